// Saves the chart on the page as a picture, drawn once more by the plotly that drew it.
// Plotly lays the copy out at 960 x 540 and it is scaled to 1200 x 675, so that text stays readable
// on a slide; PNGs have twice the pixels. Background, edge and caption are added to plotly's SVG.

import { set, shape } from "./elements.js";

const LAYOUT = { width: 960, height: 540 };
const PICTURE = { width: 1200, height: 675 };
const EDGE = 16;
const CAPTION = { size: 10, line: 14, above: 12 };

export default function render({ parentElement, data }) {
  const root = parentElement.querySelector(".picture");
  for (const button of root.querySelectorAll("button")) {
    button.onclick = () => save(root, button.dataset.format, data);
    button.hidden = Boolean(data.svg) && button.dataset.format === "html"; // a drawing is no chart
  }
}

async function save(root, format, { chart, svg: drawing, file, caption }) {
  const plot = drawing ? null : document.querySelector(`.${CSS.escape(chart)} .js-plotly-plot`);
  if (!drawing && (!plot?.data || !window.Plotly)) {
    say(root, "There is no chart here to save yet. Wait until it is drawn, then try again.", true);
    return;
  }
  busy(root, true);
  say(root, "");
  try {
    const style = getComputedStyle(root);
    let blob;
    if (format === "html") {
      blob = new Blob([await interactive(plot, style, caption, file)], { type: "text/html" });
    } else {
      const svg = await draw(plot, drawing, style, caption);
      blob = format === "svg" ? blobOf(svg) : await rasterize(svg);
    }
    const name = `${file}.${format}`;
    download(blob, name);
    say(root, `Saved ${name}`);
  } catch (error) {
    console.error("The chart could not be saved", error);
    say(
      root,
      "The browser could not draw this chart as a picture. The data can still be saved.",
      true,
    );
  } finally {
    busy(root, false);
  }
}

function busy(root, on) {
  for (const button of root.querySelectorAll("button")) button.disabled = on;
}

function say(root, words, problem = false) {
  const said = root.querySelector(".said");
  said.textContent = words;
  said.classList.toggle("problem", problem);
}

async function draw(plot, drawing, style, caption) {
  const lines = wrapped(caption);
  const foot = lines.length ? lines.length * CAPTION.line + CAPTION.above : 0;
  const size = { width: LAYOUT.width - 2 * EDGE, height: LAYOUT.height - 2 * EDGE - foot };
  const drawn = drawing || (await chartAsSvg(plot, size));
  return framed(drawn, lines, {
    page: style.getPropertyValue("--st-background-color").trim() || "#ffffff",
    paper: plot?._fullLayout?.paper_bgcolor ?? "none", // may be transparent
    ink: style.getPropertyValue("--st-text-color").trim() || "#31333f",
  });
}

function chartAsSvg(plot, size) {
  const copy = structuredClone({ data: plot.data, layout: plot.layout });
  plainFonts(copy);
  return window.Plotly.toImage(copy, { format: "svg", imageDataOnly: true, ...size });
}

// Web fonts do not reach a picture: lay out with fonts that every reader has.
function plainFonts(node) {
  if (!node || typeof node !== "object" || ArrayBuffer.isView(node)) return;
  for (const [name, value] of Object.entries(node)) {
    if (name !== "family" || typeof value !== "string") plainFonts(value);
    else node[name] = /mono|code/i.test(value) ? "Menlo, Consolas, monospace" : FONT;
  }
}

const FONT = "Helvetica, Arial, sans-serif";

function framed(drawn, lines, { page, paper, ink }) {
  // XML has no control characters; plotly lets those of user text through.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
  const clean = drawn.toWellFormed().replace(/[\0-\x08\v\f\x0e-\x1f\ufffe\uffff]/g, "\ufffd");
  const svg = new DOMParser().parseFromString(clean, "image/svg+xml").documentElement;
  if (svg.nodeName !== "svg") throw new Error(svg.textContent);
  set(svg, { ...PICTURE, viewBox: `${-EDGE} ${-EDGE} ${LAYOUT.width} ${LAYOUT.height}` });
  set(svg, { color: ink });
  for (const fill of [paper, page]) {
    svg.prepend(shape("rect", { ...LAYOUT, x: -EDGE, y: -EDGE, class: "background", fill }));
  }
  const first = LAYOUT.height - 2 * EDGE - (lines.length - 1) * CAPTION.line;
  lines.forEach((line, i) => {
    const text = shape("text", { class: "caption", x: 0, y: first + i * CAPTION.line, fill: ink });
    set(text, { "fill-opacity": 0.7, "font-family": FONT, "font-size": CAPTION.size });
    text.textContent = line;
    svg.append(text);
  });
  return new XMLSerializer().serializeToString(svg);
}

function wrapped(caption) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${CAPTION.size}px ${FONT}`;
  const lines = [];
  for (const paragraph of caption.split("\n")) {
    let line = "";
    for (const word of paragraph.split(/\s+/).filter(Boolean)) {
      const longer = line ? `${line} ${word}` : word;
      if (line && pen.measureText(longer).width > LAYOUT.width - 2 * EDGE) {
        lines.push(line);
        line = word;
      } else line = longer;
    }
    if (line) lines.push(line);
  }
  return lines;
}

// A page of its own that opens without a network: the chart as it is seen, plotly, claim, passport.
async function interactive(plot, style, caption, file) {
  const answer = await fetch(`${window.__streamlit.BACKEND_BASE_URL}plotly.min.js`);
  if (!answer.ok) throw new Error(`plotly.min.js: ${answer.status}`);
  const { data, layout } = plot;
  const frames = plot._transitionData?._frames ?? [];
  const listed = (_, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value);
  const figure = JSON.parse(JSON.stringify({ data, layout, frames }, listed));
  plainFonts(figure);
  delete figure.layout.width;
  const page = document.implementation.createHTMLDocument(layout.title?.text ?? file);
  const put = (parent, name, text, attributes = {}) => {
    const element = page.createElement(name);
    element.textContent = text;
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    parent.append(element);
  };
  const ink = style.getPropertyValue("--st-text-color").trim() || "#31333f";
  const ground = style.getPropertyValue("--st-background-color").trim() || "#ffffff";
  const claim = document.querySelector(".st-key-reading p.said")?.textContent ?? "";
  put(page.head, "meta", "", { charset: "utf-8" });
  put(page.head, "meta", "", { name: "viewport", content: "width=device-width" });
  put(
    page.head,
    "style",
    `body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: ${ink};` +
      ` background: ${ground}; font-family: ${FONT}; } .claim { font-size: 1.25rem; }` +
      " .passport { font-size: 0.75rem; white-space: pre-line; } a { color: inherit; }",
  );
  put(page.body, "div", "", { id: "chart" });
  put(page.body, "p", claim, { class: "claim" });
  put(page.body, "p", caption, { class: "passport" });
  put(page.body, "a", "Open this view in Contextlens", { href: location.href });
  put(page.body, "script", await answer.text());
  const json = JSON.stringify(figure).replaceAll("<", "\\u003c");
  put(page.body, "script", json, { type: "application/json", id: "figure" });
  put(page.body, "script", SHOW);
  return `<!doctype html>\n${page.documentElement.outerHTML}`;
}

const SHOW = `
const { data, layout, frames } = JSON.parse(document.getElementById("figure").textContent);
Plotly.newPlot("chart", data, layout, { responsive: true, displaylogo: false })
  .then((chart) => Plotly.addFrames(chart, frames));
`;

function blobOf(svg) {
  return new Blob([svg], { type: "image/svg+xml" });
}

async function rasterize(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = 2 * PICTURE.width;
  canvas.height = 2 * PICTURE.height;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png");
  });
}

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
