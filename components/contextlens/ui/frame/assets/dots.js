// The dots of a map grow with it: their sizes are meant for the width that its layout's `meta`
// names. Plotly draws anew once, when the map is there and when its width has changed.

const [LEAST, MOST] = [0.8, 1.6]; // times the size at the width that a map was made for

new MutationObserver((changes) => {
  for (const { addedNodes } of changes) {
    for (const node of addedNodes) if (node.classList?.contains("plot-container")) watch(node);
  }
}).observe(document.documentElement, { childList: true, subtree: true });

function watch({ parentElement: plot }) {
  plot.on?.("plotly_afterplot", () => fit(plot));
}

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
