// The chart of a page as a file: a picture for a slide, or a page that opens without a network.
// A copy is laid out at 960 x 540 and scaled to a width of 1200, so that text stays readable on a
// slide; PNGs have twice the pixels. Around plotly's SVG stand title, claim and passport.

import { set, shape } from "./elements.js";

const LAYOUT = { width: 960, height: 540 };
const SLIDE = 1200;
const EDGE = 16;
const LARGEST = 1.5; // how far a small drawing is enlarged
const WIDTH = LAYOUT.width - 2 * EDGE;
const FONT = '"Source Sans", Helvetica, Arial, sans-serif';
const MONO = '"Source Code Pro", Menlo, Consolas, monospace';
const TITLE = { size: 18, line: 28, weight: 600, most: 2, opacity: 1 };
const CLAIM = { size: 15, line: 20, weight: 400, most: 3, opacity: 1 };
const CAPTION = { size: 10, line: 14, weight: 400, most: 6, opacity: 0.7 };
const GAP = 10; // between the chart, the claim and the caption

// The finding that stands beside the page's picture; "" if the chart's title has it.
export function claimIn(reading) {
  const said = reading && document.querySelector(`.${CSS.escape(reading)} :is(p.said, h2)`);
  return said ? said.textContent.trim() : "";
}

export function titleOf(plot) {
  return plain(plot?.layout?.title?.text);
}

export function subtitleOf(plot) {
  return plain(plot?.layout?.title?.subtitle?.text);
}

// A text of plotly's without its tags.
function plain(text = "") {
  return new DOMParser().parseFromString(text.replace(/<br>/g, " "), "text/html").body.textContent;
}

// The words around a picture. One without a title of its own has the page's finding as its title.
export function titled(plot, view) {
  if (titleOf(plot) || view.svg_title) return { ...view, title: "" };
  return view.claim ? { ...view, title: view.claim, claim: "" } : view;
}

export function coloursOf(style) {
  return {
    ink: style.getPropertyValue("--st-text-color").trim() || "#31333f",
    ground: style.getPropertyValue("--st-background-color").trim() || "#ffffff",
  };
}

// The SVG of a plot, or of a drawing in `currentColor`, with these words around it. It is only as
// high as a drawing needs. Without words, a plot is without its own title.
export async function asSvg(plot, drawing, colours, words) {
  const { title = "", claim = "", caption = "" } = words ?? {};
  const above = wrapped(title, TITLE);
  const below = [wrapped(claim, CLAIM), wrapped(caption, CAPTION)].filter(({ lines }) => lines[0]);
  const foot = below.reduce((sum, { lines, kind }) => sum + lines.length * kind.line + GAP, 0);
  const head = above.lines.length * TITLE.line;
  const room = { width: WIDTH, height: LAYOUT.height - 2 * EDGE - head - foot };
  const inner = placed(parsed(drawing || (await chartAsSvg(plot, room, words))), room, EDGE + head);
  const needed = 2 * EDGE + head + Math.ceil(inner.getAttribute("height")) + foot;
  const height = drawing ? needed : LAYOUT.height;
  const svg = shape("svg", { viewBox: `0 0 ${LAYOUT.width} ${height}` });
  set(svg, { width: SLIDE, height: (height * SLIDE) / LAYOUT.width });
  set(svg, { xmlns: "http://www.w3.org/2000/svg", color: colours.ink });
  // The chart's own ground may be transparent.
  for (const fill of [colours.ground, plot?._fullLayout?.paper_bgcolor ?? "none"]) {
    svg.append(shape("rect", { ...LAYOUT, height, class: "background", fill }));
  }
  write(svg, above, EDGE, colours.ink);
  svg.append(inner);
  let y = height - EDGE - foot;
  for (const block of below) {
    y = write(svg, block, y + GAP, colours.ink);
  }
  return new XMLSerializer().serializeToString(await withFonts(svg));
}

// No font of the page reaches a picture, so it carries those that it names.
async function withFonts(svg) {
  const drawn = svg.outerHTML;
  const named = ["Source Sans", "Source Code Pro"].filter((family) => drawn.includes(family));
  const style = shape("style", {});
  style.textContent = (await Promise.all(named.map(fontFace))).join("");
  svg.prepend(style);
  return svg;
}

const faces = new Map();

// Without its font a picture is still drawn, in the next one of its list.
async function fontFace(family) {
  if (!faces.get(family)) faces.set(family, await fetchedFace(family).catch(() => ""));
  return faces.get(family);
}

// A rule with the upright font of a family as the page's own style sheets name it; "" without it.
async function fetchedFace(family) {
  for (const sheet of document.styleSheets) {
    if (sheet.href && new URL(sheet.href).origin !== location.origin) continue;
    for (const rule of sheet.cssRules) {
      const value = (name) => rule.style.getPropertyValue(name).replaceAll(/["']/g, "");
      if (!(rule instanceof CSSFontFaceRule) || value("font-family") !== family) continue;
      if (value("font-style") === "italic") continue;
      const address = value("src").match(/url\(([^)]+)/)?.[1];
      const font = address && (await fetch(new URL(address, sheet.href ?? location.href)));
      if (!font?.ok) return "";
      const data = await dataUrl(await font.blob());
      return `@font-face { font-family: "${family}"; font-weight: 100 900; src: url(${data}); }`;
    }
  }
  return "";
}

export function dataUrl(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}

// The size of an SVG, which scales from now on.
function measured(svg) {
  const [width, height] = ["width", "height"].map((side) => parseFloat(svg.getAttribute(side)));
  if (!svg.hasAttribute("viewBox")) set(svg, { viewBox: `0 0 ${width} ${height}` });
  return { width, height };
}

function placed(svg, room, y) {
  const { width, height } = measured(svg);
  const scale = Math.min(LARGEST, room.width / width, room.height / height);
  set(svg, { x: EDGE, y, width: width * scale, height: height * scale, overflow: "visible" });
  return svg;
}

function write(svg, { lines, kind }, y, fill) {
  const { size, line: step, weight, opacity } = kind;
  lines.forEach((line, i) => {
    const text = shape("text", { x: EDGE, y: y + i * step + size, fill, "fill-opacity": opacity });
    set(text, { "font-family": FONT, "font-size": size, "font-weight": weight });
    set(text, { class: kind === CAPTION ? "caption" : kind === CLAIM ? "claim" : "title" });
    text.textContent = line;
    svg.append(text);
  });
  return y + lines.length * step;
}

function wrapped(words, kind) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${kind.weight} ${kind.size}px ${FONT}`;
  const lines = [];
  for (const paragraph of words.split("\n")) {
    let line = "";
    for (const word of paragraph.split(/\s+/).filter(Boolean)) {
      const longer = line ? `${line} ${word}` : word;
      if (line && pen.measureText(longer).width > WIDTH) {
        lines.push(line);
        line = word;
      } else line = longer;
    }
    if (line) lines.push(line);
  }
  if (lines.length > kind.most) lines.splice(kind.most - 1, Infinity, `${lines[kind.most - 1]} …`);
  return { lines, kind };
}

function chartAsSvg(plot, size, words) {
  const copy = structuredClone({ data: plot.data, layout: plot.layout });
  if (!words) {
    copy.layout.title = { text: "" };
    copy.layout.margin = { ...copy.layout.margin, t: Math.min(copy.layout.margin?.t ?? 24, 24) };
  }
  plainFonts(copy);
  return window.Plotly.toImage(copy, { format: "svg", imageDataOnly: true, ...size });
}

// Lay out with the fonts that a picture carries.
function plainFonts(node) {
  if (!node || typeof node !== "object" || ArrayBuffer.isView(node)) return;
  for (const [name, value] of Object.entries(node)) {
    if (name !== "family" || typeof value !== "string") plainFonts(value);
    else node[name] = /mono|code/i.test(value) ? MONO : FONT;
  }
}

function parsed(drawn) {
  // XML has no control characters; plotly lets those of user text through.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
  const clean = drawn.toWellFormed().replace(/[\0-\x08\v\f\x0e-\x1f\ufffe\uffff]/g, "\ufffd");
  const svg = new DOMParser().parseFromString(clean, "image/svg+xml").documentElement;
  if (svg.nodeName !== "svg") throw new Error(svg.textContent);
  return svg;
}

export function svgBlob(svg) {
  return new Blob([svg], { type: "image/svg+xml" });
}

export async function asPng(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = 2 * image.naturalWidth;
  canvas.height = 2 * image.naturalHeight;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png");
  });
}

// A page of its own that opens without a network: the chart as it is seen and still interactive, or
// a drawing; claim, passport and a link back.
export async function asHtml(plot, drawing, { ink, ground }, view) {
  const { title, claim } = titled(plot, view);
  const name = title || titleOf(plot) || view.svg_title;
  const { page, put } = newPage(name, STYLE(ink, ground), { hasScript: !drawing });
  if (title) put(page.body, "h1", title);
  if (drawing) {
    const svg = parsed(drawing);
    measured(svg);
    page.body.append(page.importNode(svg, true));
  } else put(page.body, "div", "", { id: "chart" });
  if (claim) put(page.body, "p", claim, { class: "claim" });
  put(page.body, "p", view.caption, { class: "passport" });
  if (view.link) put(page.body, "a", "Open this view in Contextlens", { href: view.link });
  if (!drawing) {
    put(page.body, "script", await plotlyScript());
    const json = JSON.stringify(figureOf(plot)).replaceAll("<", "\\u003c");
    put(page.body, "script", json, { type: "application/json", id: "figure" });
    put(page.body, "script", SHOW);
  }
  return `<!doctype html>\n${page.documentElement.outerHTML}`;
}

async function plotlyScript() {
  const answer = await fetch(`${window.__streamlit.BACKEND_BASE_URL}plotly.min.js`);
  if (!answer.ok) throw new Error(`plotly.min.js: ${answer.status}`);
  return answer.text();
}

function figureOf({ data, layout, _transitionData }) {
  const frames = _transitionData?._frames ?? [];
  const listed = (_, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value);
  const figure = JSON.parse(JSON.stringify({ data, layout, frames }, listed));
  plainFonts(figure);
  delete figure.layout.width;
  return figure;
}

// What a saved page may do: draw what is in it, and ask nobody for anything. Plotly makes functions
// from text for charts in WebGL.
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'";
const SCRIPT_POLICY = "; script-src 'unsafe-inline' 'unsafe-eval'";

// An empty HTML page, and a function that adds an element to a part of it.
export function newPage(title, style, { hasScript = false } = {}) {
  const page = document.implementation.createHTMLDocument(title);
  const put = (parent, name, text, attributes = {}) => {
    const element = page.createElement(name);
    element.textContent = text;
    set(element, attributes);
    parent.append(element);
    return element;
  };
  page.documentElement.lang = "en";
  put(page.head, "meta", "", { charset: "utf-8" });
  put(page.head, "meta", "", {
    "http-equiv": "Content-Security-Policy",
    content: POLICY + (hasScript ? SCRIPT_POLICY : ""),
  });
  put(page.head, "meta", "", { name: "viewport", content: "width=device-width" });
  put(page.head, "style", style);
  return { page, put };
}

const STYLE = (ink, ground) =>
  `body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: ${ink};` +
  ` background: ${ground}; font-family: ${FONT}; } h1, .claim { font-size: 1.25rem; }` +
  " svg { max-width: 100%; height: auto; overflow: visible; }" +
  " .passport { font-size: 0.75rem; white-space: pre-line; } a { color: inherit; }";

const SHOW = `
const { data, layout, frames } = JSON.parse(document.getElementById("figure").textContent);
Plotly.newPlot("chart", data, layout, { responsive: true, displaylogo: false })
  .then((chart) => Plotly.addFrames(chart, frames));
`;

// The report as a page of its own, which opens without a network.
export function reportAsHtml({ title, note }, views, words) {
  const { page, put } = newPage(title || words.untitled, REPORT_STYLE);
  const date = new Date().toISOString().slice(0, 10);
  put(page.body, "h1", title || words.untitled);
  if (note) put(page.body, "p", note, { class: "note" });
  for (const view of views) {
    const section = put(page.body, "section", "");
    put(section, "h2", view.title);
    if (view.claim && view.claim !== view.title) put(section, "p", view.claim, { class: "claim" });
    put(section, "img", "", { src: view.picture, alt: view.claim || view.title });
    if (view.note) put(section, "p", view.note, { class: "note" });
    const rows = put(section, "table", "");
    for (const [label, value] of view.settings) {
      const row = put(rows, "tr", "");
      put(row, "th", label);
      put(row, "td", value);
    }
    put(section, "p", view.caption, { class: "passport" });
    if (view.link) put(section, "a", `${words.open}: ${view.page}`, { href: view.link });
  }
  put(page.body, "footer", words.made.replace("{date}", date));
  return `<!doctype html>\n${page.documentElement.outerHTML}`;
}

const REPORT_STYLE = `
body { overflow-wrap: anywhere; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #1c2126; background: #fff;
  font-family: Helvetica, Arial, sans-serif; line-height: 1.5; }
h2 { margin: 0 0 0.5rem; } section { margin: 2.5rem 0; border-top: 1px solid #ccd2d9; padding-top: 1.5rem; }
img { width: 100%; height: auto; border: 1px solid #e3e7eb; }
.claim { font-size: 1.125rem; } .note { white-space: pre-line; }
table { border-collapse: collapse; font-size: 0.8125rem; margin: 0.75rem 0; }
th { text-align: left; font-weight: 600; padding: 0.125rem 1rem 0.125rem 0; vertical-align: top; }
td { overflow-wrap: anywhere; }
.passport, footer { color: #57606a; font-size: 0.75rem; white-space: pre-line; overflow-wrap: anywhere; }
a { color: #0b63a5; }
@media print {
  body { margin: 0; max-width: none; font-size: 11pt; }
  section { break-inside: avoid; margin: 0; padding-top: 1rem; } section + section { break-before: auto; }
  img { max-height: 12cm; object-fit: contain; object-position: left; border: 0; }
}
`;

export function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click(); // outside the document, where its click would close the menu
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
