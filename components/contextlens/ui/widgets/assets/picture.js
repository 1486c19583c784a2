// Takes a page's chart away: as a file, into the report, or as a notebook that computes it.

import {
  asHtml,
  asPng,
  asSvg,
  claimIn,
  coloursOf,
  dataUrl,
  download,
  reportAsHtml,
  subtitleOf,
  svgBlob,
  titled,
  titleOf,
} from "./chart_files.js";
import { button, make } from "./elements.js";
import { notebook } from "./notebook.js";
import { add, entries, HEAD, nViews, Problem, watch } from "./report_store.js";

const LARGE = 1_000_000; // characters of an SVG; a larger one goes into the report as a PNG
const PATIENCE = 10_000; // milliseconds that a run of the page may take
const FAILED = "The browser could not draw this chart as a picture. The data can still be saved.";
const NOT_YET = "There is no chart here to save yet. Wait until it is drawn, then try again.";
const PLAYS = "The layers are playing. Stop at one, or wait until they have played.";

export default function render({ parentElement, data }) {
  const root = parentElement.querySelector(".picture");
  root.view = data; // of the latest run
  const { formats, cells } = data;
  root.classList.toggle("for-report", formats.includes("report"));
  const header = root.getRootNode().host?.closest(".st-key-downloads");
  root.classList.toggle("in-header", Boolean(header));
  if (formats.includes("report")) count(root);
  for (const each of root.querySelectorAll("[data-format]")) {
    const { format } = each.dataset;
    each.onclick = () => save(root, format);
    each.hidden = !formats.includes(format) || (format === "ipynb" && !cells.length);
  }
}

async function save(root, format) {
  busy(root, true);
  say(root, "");
  try {
    await atRest();
    const { view } = root;
    const chart = `.${CSS.escape(view.chart)} .js-plotly-plot`;
    const plot = view.svg ? null : document.querySelector(chart);
    if (!view.svg && (!plot?.data || !window.Plotly)) throw new Problem(NOT_YET);
    const shown = { ...view, claim: claimIn(view.reading) };
    const colours = coloursOf(getComputedStyle(root));
    if (format === "report") await collect(root, plot, shown, colours);
    else await saveFile(root, format, plot, shown, colours);
  } catch (error) {
    if (!(error instanceof Problem)) console.error("The chart could not be saved", error);
    say(root, error instanceof Problem ? error.message : FAILED, true);
  } finally {
    busy(root, false);
  }
}

// What a chart shows and what stands beside it agree only where the page is at rest.
async function atRest() {
  if (document.body.hasAttribute("data-plays")) throw new Problem(PLAYS);
  const app = document.querySelector('[data-testid="stApp"]');
  const end = Date.now() + PATIENCE;
  while (app?.dataset.testScriptState === "running" && Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function saveFile(root, format, plot, view, colours) {
  const name = `${view.file}.${format}`;
  download(await fileOf(format, plot, view, colours), name);
  say(root, `Saved ${name}`);
}

async function fileOf(format, plot, view, colours) {
  if (format === "ipynb") {
    return new Blob([notebook([view])], { type: "application/x-ipynb+json" });
  }
  if (format === "html") {
    return new Blob([await asHtml(plot, view.svg, colours, view)], { type: "text/html" });
  }
  const svg = await asSvg(plot, view.svg, colours, titled(plot, view));
  return format === "svg" ? svgBlob(svg) : asPng(svg);
}

async function collect(root, plot, view, colours) {
  const { title: page, claim, link, settings, cells, file } = view;
  const { title: finding } = titled(plot, view);
  const svg = await asSvg(plot, view.svg, colours);
  const picture = await dataUrl(svg.length > LARGE ? await asPng(svg) : svgBlob(svg));
  const isHeadline = document.querySelector(`.${CSS.escape(view.reading)} p.finding`);
  const title = (isHeadline && claim) || titleOf(plot) || view.svg_title || finding;
  const caption = [subtitleOf(plot), view.caption].filter(Boolean).join("\n");
  await add({ page, title, claim, caption, link, settings, cells, file, picture });
  say(root, "Added. ");
  const open = make("a", "", "Open the report");
  open.href = `${window.__streamlit.BACKEND_BASE_URL}report${link ? location.search : ""}`;
  open.onclick = (event) => {
    // The menu's own link keeps the visit, which may hold what no address can.
    const inMenu = document.querySelector('.st-key-menu a[href*="/report"]');
    if (!inMenu) return;
    event.preventDefault();
    inMenu.click();
  };
  const saved = button("", view.report_words.html);
  saved.onclick = () => saveReport(root, view.report_words);
  root.querySelector(".said").append(open, " · ", saved);
}

// The whole report as a file, without going to its page.
async function saveReport(root, words) {
  try {
    const all = await entries();
    const head = all.find(({ id }) => id === HEAD) ?? { title: "", note: "" };
    const views = all.filter(({ id }) => id !== HEAD);
    download(new Blob([reportAsHtml(head, views, words)], { type: "text/html" }), "report.html");
    say(root, words.saved.replace("{name}", "report.html"));
  } catch (error) {
    if (!(error instanceof Problem)) console.error("The report could not be saved", error);
    say(root, error instanceof Problem ? error.message : words.failed, true);
  }
}

// The button says how many views the report has, also once another one or another tab adds some.
function count(root) {
  const show = async () => {
    const n = await nViews().catch(() => 0);
    root.querySelector(".n").textContent = n ? ` · ${n}` : "";
  };
  if (root.counts) return;
  show();
  root.counts = new AbortController();
  const changed = () => (root.isConnected ? show() : root.counts.abort());
  watch(changed, root.counts.signal);
}

function busy(root, on) {
  for (const each of root.querySelectorAll("button")) each.disabled = on;
}

function say(root, words, problem = false) {
  const said = root.querySelector(".said");
  root.classList.toggle("on-left", root.getBoundingClientRect().right < window.innerWidth / 2);
  said.textContent = words;
  said.classList.toggle("problem", problem);
}
