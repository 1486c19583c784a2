// The names of a map: a click on one tells the page. Where a reader has zoomed in, the names of the
// groups in view are placed anew, as `figures/side_names.py` places them at first.

import { update } from "../../../ui/widgets/assets/component.js";
import { make } from "../../../ui/widgets/assets/elements.js";

const STEP = 21; // pixels from one name to the next, as NAME_STEP
const WAIT_MS = 300; // until the chart is there
const HEARD = ["click", "pointerdown", "wheel"];

export default function render(given) {
  update(Names, ".names", given);
}

class Names {
  constructor(root) {
    this.root = root;
    root.setAttribute("role", "group");
    root.addEventListener("click", (event) => {
      const name = event.target.closest("button");
      if (name) this.send(name.dataset.key);
    });
  }

  update({ chart, chosen, about, names }) {
    this.names = names;
    this.chart = chart;
    this.root.setAttribute("aria-label", about);
    this.root.replaceChildren(...names.map((name) => chipOf(name, chosen)));
    this.attach();
  }

  // Listeners on the document stay; a chart that is drawn anew loses its own, and so may its place.
  attach() {
    for (const kind of HEARD) {
      document.addEventListener(kind, this, { capture: true, passive: true });
    }
    const plot = document.querySelector(`.${CSS.escape(this.chart)} .js-plotly-plot`);
    clearTimeout(this.waiting);
    if (!plot?.on || !plot._fullLayout) {
      if (this.root.isConnected) this.waiting = setTimeout(() => this.attach(), WAIT_MS);
      return;
    }
    this.root.classList.toggle("beside", Boolean(plot.layout.annotations?.length));
    if (plot._ev?.listeners("plotly_relayout").includes(this.moved)) return;
    this.moved = (changed) => this.place(plot, changed);
    plot.on("plotly_relayout", this.moved);
  }

  handleEvent(event) {
    if (!this.root.isConnected) {
      for (const kind of HEARD) document.removeEventListener(kind, this, { capture: true });
    } else if (event.target.closest?.(`.${CSS.escape(this.chart)}`)) {
      if (event.type === "click") this.choose(event);
      else this.attach();
    }
  }

  choose(event) {
    const note = event.target.closest(".annotation");
    const plot = event.target.closest(".js-plotly-plot");
    const key = note && plot?.layout.annotations?.[Number(note.dataset.index)]?.name;
    if (key) this.send(key);
  }

  // Only a reader's own zoom or shift; what Play and the page draw has its names already.
  async place(plot, changed) {
    const isMoved = Object.keys(changed).some((key) => /^[xy]axis\.(range|autorange)/.test(key));
    if (!isMoved || document.body.hasAttribute("data-plays") || !plot.layout.annotations) return;
    const { xaxis, yaxis, _size: size } = plot._fullLayout;
    const shared = plot.layout.annotations.find((note) => note.visible !== false)?.font;
    const layout = sidesOf(this.names, [xaxis.range, yaxis.range], size.h, shared ?? {});
    await window.Plotly.relayout(plot, layout);
  }
}

function chipOf({ key, text, color, n }, chosen) {
  const chip = make("button", "", `${text} · ${n}`);
  chip.type = "button";
  chip.dataset.key = key;
  chip.style.setProperty("--own", color);
  chip.ariaPressed = String(key === chosen);
  return chip;
}

function sidesOf(names, [[left, right], [bottom, top]], height, font) {
  const inView = names.filter(
    ({ place: [x, y] }) => x >= left && x <= right && y >= bottom && y <= top,
  );
  const each = Math.max(1, Math.floor(height / STEP));
  const kept = inView.toSorted((one, other) => other.weight - one.weight).slice(0, 2 * each);
  const across = kept.toSorted((one, other) => one.place[0] - other.place[0]);
  const middle = (left + right) / 2;
  const lefts = across.filter(({ place }) => place[0] < middle).length;
  const nLeft = Math.min(Math.max(lefts, across.length - each), each);
  const annotations = [];
  const shapes = [];
  [across.slice(0, nLeft), across.slice(nLeft)].forEach((names, side) => {
    const rising = names.toSorted((one, other) => one.place[1] - other.place[1]);
    const spots = rising.map(({ place }) => (place[1] - bottom) / (top - bottom));
    spread(spots, STEP / height).forEach((y, i) => {
      const { key, label, color, place } = rising[i];
      const dot = `<span style="color:${color}">●</span>`;
      annotations.push({
        text: side ? `${dot} ${label}` : `${label} ${dot}`,
        name: key,
        x: side,
        xref: "paper",
        xanchor: side ? "left" : "right",
        xshift: side ? 4 : -4,
        y,
        yref: "paper",
        yanchor: "middle",
        showarrow: false,
        captureevents: true,
        font,
      });
      const edge = side ? right : left;
      const start = bottom + y * (top - bottom);
      const [leave, meet] = [edge + 0.45 * (place[0] - edge), place[0] - 0.3 * (place[0] - edge)];
      const path = `M${edge},${start} C${leave},${start} ${meet},${place[1]} ${place}`;
      shapes.push({ type: "path", path, line: { color, width: 1 }, opacity: 0.5, layer: "below" });
    });
  });
  return { annotations, shapes };
}

function spread(spots, step) {
  const [low, high] = [step / 2, 1 - step / 2];
  const inside = spots.map((spot) => Math.min(Math.max(spot, low), high));
  const up = pushed(inside, step, high);
  const down = pushed(inside.map((spot) => 1 - spot).toReversed(), step, high);
  return up.map((spot, i) => (spot + 1 - down[down.length - 1 - i]) / 2);
}

function pushed(spots, step, high) {
  const placed = [...spots];
  for (let i = 1; i < placed.length; i += 1) {
    placed[i] = Math.max(placed[i], placed[i - 1] + step);
  }
  if (placed.at(-1) > high) {
    placed[placed.length - 1] = high;
    for (let i = placed.length - 2; i >= 0; i -= 1) {
      placed[i] = Math.min(placed[i], placed[i + 1] - step);
    }
  }
  return placed;
}
