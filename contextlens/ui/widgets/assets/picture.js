// Takes a page's chart away: as a file, into the report, or as a notebook that computes it.

import {
  asHtml,
  asPng,
  asSvg,
  claimOfPage,
  coloursOf,
  download,
  svgBlob,
  titleOf,
} from "./chart_files.js";
import { make } from "./elements.js";
import { notebook } from "./notebook.js";
import { add, Problem } from "./report_store.js";

const LARGE = 1_000_000; // characters of an SVG; a larger one goes into the report as a PNG
const FAILED = "The browser could not draw this chart as a picture. The data can still be saved.";
const NOT_YET = "There is no chart here to save yet. Wait until it is drawn, then try again.";

export default function render({ parentElement, data }) {
  const root = parentElement.querySelector(".picture");
  const can = {
    html: !data.svg, // a drawing is no chart
    ipynb: data.cells.length > 0,
    report: Boolean(data.title),
  };
  for (const button of root.querySelectorAll("button")) {
    const { format } = button.dataset;
    button.onclick = () => save(root, format, data);
    button.hidden = can[format] === false;
  }
}

async function save(root, format, data) {
  const chart = `.${CSS.escape(data.chart)} .js-plotly-plot`;
  const plot = data.svg ? null : document.querySelector(chart);
  if (!data.svg && (!plot?.data || !window.Plotly)) {
    say(root, NOT_YET, true);
    return;
  }
  busy(root, true);
  say(root, "");
  try {
    const words = { ...data, claim: claimOfPage() };
    const colours = coloursOf(getComputedStyle(root));
    if (format === "report") await collect(root, plot, words, colours);
    else await saveFile(root, format, plot, words, colours);
  } catch (error) {
    if (!(error instanceof Problem)) console.error("The chart could not be saved", error);
    say(root, error instanceof Problem ? error.message : FAILED, true);
  } finally {
    busy(root, false);
  }
}

async function saveFile(root, format, plot, words, colours) {
  const name = `${words.file}.${format}`;
  download(await fileOf(format, plot, words, colours), name);
  say(root, `Saved ${name}`);
}

async function fileOf(format, plot, words, colours) {
  if (format === "ipynb")
    return new Blob([notebook([words])], { type: "application/x-ipynb+json" });
  if (format === "html") {
    return new Blob([await asHtml(plot, colours, words)], { type: "text/html" });
  }
  const title = titleOf(plot) ? "" : words.title; // the chart has its own
  const svg = await asSvg(plot, words.svg, colours, { ...words, title });
  return format === "svg" ? svgBlob(svg) : asPng(svg);
}

async function collect(root, plot, words, colours) {
  const { title: page, claim, caption, link, settings, cells, file } = words;
  const svg = await asSvg(plot, words.svg, colours);
  const picture = await dataUrl(svg.length > LARGE ? await asPng(svg) : svgBlob(svg));
  const title = titleOf(plot) || page;
  const when = new Date().toISOString();
  const n = await add({ page, title, claim, caption, link, settings, cells, file, picture, when });
  const views = n === 1 ? "1 view" : `${n} views`;
  say(root, `Your report has ${views}. `);
  const open = make("a", "", "Open the report");
  open.href = `${window.__streamlit.BACKEND_BASE_URL}report${location.search}`;
  root.querySelector(".said").append(open);
}

function dataUrl(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}

function busy(root, on) {
  for (const button of root.querySelectorAll("button")) button.disabled = on;
}

function say(root, words, problem = false) {
  const said = root.querySelector(".said");
  said.textContent = words;
  said.classList.toggle("problem", problem);
}
