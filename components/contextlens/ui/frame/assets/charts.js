// What a chart misses once it is drawn: its dots grow with it, and its colours follow the theme.

const [LEAST, MOST] = [0.8, 1.6]; // times the size at the width that a map was made for
const INK = { light: "#262730", dark: "#fafafa" }; // Streamlit's own, which no variable names
const SCALES = ["categorical", "sequential", "diverging"];
const IN_LABEL = /(?<=<span style="color:)#[0-9a-f]{6}(?=")/gi;

new MutationObserver((changes) => {
  for (const { addedNodes } of changes) {
    for (const node of addedNodes) if (node.classList?.contains("plot-container")) watch(node);
  }
}).observe(document.documentElement, { childList: true, subtree: true });

function watch({ parentElement: plot }) {
  plot.on?.("plotly_afterplot", () => recolour(plot) || fit(plot));
}

// The sizes of a map's dots are meant for the width that its layout's `meta` names. Plotly draws
// anew once, when the map is there and when its width has changed.
function fit(plot) {
  const { data, layout, _fullLayout: drawn } = plot;
  const { made_for: made, fits = made } = layout.meta ?? {};
  if (!made || !drawn.width) return;
  const scaleAt = (width) => Math.min(Math.max(width / made, LEAST), MOST);
  const times = scaleAt(drawn.width) / scaleAt(fits);
  if (Math.abs(times - 1) < 0.01) return;
  const rows = [...data.keys()].filter((row) => data[row].marker?.size);
  const sizes = rows.map((row) => {
    const { size } = data[row].marker;
    return Array.isArray(size) ? size.map((own) => own * times) : size * times;
  });
  const meta = { ...layout.meta, fits: drawn.width };
  window.Plotly.update(plot, { "marker.size": sizes }, { meta }, rows);
}

// Streamlit writes the theme's colours over placeholders when a chart is first drawn, and never
// again: a switch between light and dark leaves them. `meta` keeps those that were written. Returns
// true if the chart is drawn anew.
function recolour(plot) {
  const { data, layout, _transitionData: moving } = plot;
  const colours = themeColours();
  if (!colours) return false;
  const written = layout.meta?.colours ?? colours;
  layout.meta = { ...layout.meta, colours };
  if (written.join() === colours.join()) return false;
  const news = new Map(written.map((colour, i) => [colour, colours[i]]));
  replace([data, layout, moving?._frames ?? []], news);
  window.Plotly.redraw(plot);
  return true;
}

// Streamlit gives its variables to components alone, of which every page has some: null if none is
// there yet.
function themeColours() {
  const component = document.querySelector('[data-testid^="stBidiComponent"]');
  if (!component) return null;
  const style = getComputedStyle(component);
  const named = [...SCALES.map((name) => `chart-${name}-colors`), "background-color"];
  const colours = named.flatMap((name) => style.getPropertyValue(`--st-${name}`).split(","));
  return [INK[style.colorScheme], ...colours.map((colour) => colour.trim())];
}

// A colour stands below a name with "color", or in a label's own tag, which no visitor's text has.
function replace(part, news, isColour = false) {
  if (part === null || typeof part !== "object" || ArrayBuffer.isView(part)) return;
  for (const [name, value] of Object.entries(part)) {
    const isOne = isColour || name.includes("color");
    if (typeof value !== "string") replace(value, news, isOne);
    else if (isOne && news.has(value)) part[name] = news.get(value);
    else part[name] = value.replace(IN_LABEL, (own) => news.get(own) ?? own);
  }
}
