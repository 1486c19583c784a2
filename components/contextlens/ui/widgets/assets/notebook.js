// Views as a Jupyter notebook (nbformat 4.5): for each, what it shows, then Python that computes it.

const METADATA = {
  kernelspec: { display_name: "Python 3", language: "python", name: "python3" },
  language_info: { name: "python" },
};

// The notebook's text; a report has a title and an introduction. A view has `title`, `claim`,
// `note`, `caption`, `link` and `cells`: pairs of "markdown" or "code" and the source.
export function notebook(views, title = "", introduction = "") {
  const cells = views.flatMap((view) => [
    ["markdown", about(view, title ? "##" : "#")],
    ...view.cells,
  ]);
  if (title) {
    cells.unshift(["markdown", [`# ${plain(title)}`, plain(introduction)].join("\n\n").trim()]);
  }
  return JSON.stringify(
    { cells: cells.map(cell), metadata: METADATA, nbformat: 4, nbformat_minor: 5 },
    null,
    1,
  );
}

function cell([kind, source], i) {
  const run = kind === "code" ? { execution_count: null, outputs: [] } : {};
  return { cell_type: kind, id: `cell-${i}`, metadata: {}, ...run, source };
}

function about(view, level) {
  const { title, claim, note = "", caption, link } = view;
  const said = claim === title ? "" : claim;
  const parts = [`${level} ${plain(title.replace(/\s+/g, " "))}`, plain(said), plain(note)];
  if (link) parts.push(`[Open this view in Contextlens](<${link}>)`);
  parts.push(...caption.split("\n").map(plain));
  return parts.filter(Boolean).join("\n\n");
}

// Text with nothing that Markdown, HTML or a formula would take for itself; its lines stay.
function plain(text) {
  return text
    .replace(/[\\`*_{}[\]<>()#+!|$~&^]/g, "\\$&")
    .replace(/^(\s*)([-=])/gm, "$1\\$2")
    .replace(/^(\s*\d+)\./gm, "$1\\.")
    .replace(/\n/g, "\\\n");
}
