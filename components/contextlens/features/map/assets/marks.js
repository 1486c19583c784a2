// The marks of points on a map of many: they are drawn over the chart that the browser has, which is
// not sent again. A click on a point tells the page.

import { update } from "../../../ui/widgets/assets/component.js";

const WAIT_MS = 300; // until the chart is there
const MARK = "mark";
const MOST_MOVED = 8; // pixels of a click, as plotly has it
const REACH = 20; // pixels from a point, as plotly's hovers have it

export default function render(given) {
  update(Marks, ".marks", given);
}

class Marks {
  constructor(root) {
    this.root = root;
  }

  update(data) {
    Object.assign(this, data);
    this.attach();
  }

  // A chart that is drawn anew has neither marks nor listeners.
  attach() {
    const plot = document.querySelector(`.${CSS.escape(this.chart)} .js-plotly-plot`);
    clearTimeout(this.waiting);
    if (!plot?.on || !plot._fullLayout) {
      if (this.root.isConnected) this.waiting = setTimeout(() => this.attach(), WAIT_MS);
      return;
    }
    this.draw(plot);
    if (plot === this.plot) return;
    this.plot = plot;
    plot.addEventListener("pointerdown", (event) => {
      this.down = event;
    });
    plot.addEventListener("click", (event) => this.choose(plot, event));
  }

  // Marks have the theme's ink, and grow as the points do.
  draw(plot) {
    const { data, layout } = plot;
    const text = JSON.stringify(this.traces).replaceAll(this.ink, layout.title.font.color);
    const isThere = data.some(({ meta }) => meta === MARK);
    if (plot === this.plot && isThere ? text === this.drawn : !isThere && text === "[]") return;
    this.drawn = text;
    const marks = JSON.parse(text).map((trace) => ({ ...trace, meta: MARK }));
    for (const { marker } of marks) if (marker) marker.size *= data[0].marker.size / this.size;
    plot.data = [...data.filter(({ meta }) => meta !== MARK), ...marks];
    window.Plotly.redraw(plot);
  }

  // Plotly sends no click after a drag, and no place with a finger's.
  choose(plot, event) {
    if (!event.target.closest?.(".draglayer") || !this.down) return;
    const { clientX: x, clientY: y } = this.down;
    const hasPlace = event.clientX || event.clientY;
    const moved = Math.hypot(event.clientX - x, event.clientY - y);
    if (hasPlace && moved > MOST_MOVED) return; // a quick drag
    const place = nearest(plot, x, y);
    if (place) this.send({ of: this.of, place });
  }
}

// The curve and the index of the point at a place in the window. Plotly would find it later, when the
// pointer may be elsewhere.
function nearest(plot, x, y) {
  const { xaxis, yaxis } = plot._fullLayout;
  const { left, top } = plot.getBoundingClientRect();
  const [across, down] = [x - left - xaxis._offset, y - top - yaxis._offset];
  let place;
  let least = REACH ** 2;
  for (const [curve, trace] of plot._fullData.entries()) {
    if (trace.visible !== true || trace.hoverinfo === "skip") continue;
    for (let i = 0; i < trace.x.length; i += 1) {
      const distance = (xaxis.l2p(trace.x[i]) - across) ** 2 + (yaxis.l2p(trace.y[i]) - down) ** 2;
      if (distance < least) [place, least] = [[curve, i], distance];
    }
  }
  return place;
}
