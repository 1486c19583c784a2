// The text of the point under the pointer, on a map of too many points to send all texts. When the
// pointer rests, the server is asked for it, for one point at a time. User text reaches the page
// through textContent only.

import { update } from "../../../ui/widgets/assets/component.js";
import { make } from "../../../ui/widgets/assets/elements.js";

const REST_MS = 120; // on a point
const WAIT_MS = 300; // until the chart is there
const GAP = 12; // pixels from the point
const MAX_KEPT = 500; // texts

export default function render(given) {
  update(PointText, ".point-text", given);
}

class PointText {
  constructor(root) {
    this.root = root;
    this.kept = new Map();
    this.onScroll = () => this.leave(); // the same at each show, so it is added once
  }

  update({ chart, of, place, parts, labels }) {
    if (of !== this.of) this.leave(); // the place was one of the chart before
    if (of !== this.of || this.kept.size >= MAX_KEPT) this.kept.clear();
    if (parts) this.kept.set(place.join(), { parts, labels });
    this.of = of;
    this.asked = undefined;
    this.attach(chart);
    if (parts || place.join() !== this.over?.place.join()) this.ask(); // no text: not at once
  }

  // A chart that is drawn anew loses its listeners.
  attach(chart) {
    const plot = document.querySelector(`.${CSS.escape(chart)} .js-plotly-plot`);
    clearTimeout(this.waiting);
    if (!plot?.on || !plot._fullLayout) {
      if (this.root.isConnected) this.waiting = setTimeout(() => this.attach(chart), WAIT_MS);
      return;
    }
    if (plot._ev.listeners("plotly_hover").includes(this.onHover)) return;
    this.onHover = ({ points: [point] }) => this.enter(plot, point);
    plot.on("plotly_hover", this.onHover);
    plot.on("plotly_unhover", () => this.leave());
    plot.addEventListener("pointermove", ({ clientX, clientY }) => {
      this.pointer = [clientX, clientY];
    });
    const [rested] = plot._hoverdata ?? []; // the pointer was there before
    if (rested) this.enter(plot, rested);
  }

  enter(plot, { curveNumber, pointNumber, x, y, xaxis, yaxis }) {
    const frame = plot.getBoundingClientRect();
    const isFlat = xaxis && yaxis; // in space, the pointer tells where the point is
    const [left, top] = isFlat
      ? [frame.x + xaxis._offset + xaxis.d2p(x), frame.y + yaxis._offset + yaxis.d2p(y)]
      : (this.pointer ?? [frame.x, frame.y]);
    this.over = { place: [curveNumber, pointNumber], left, top };
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.ask(), REST_MS);
  }

  leave() {
    clearTimeout(this.resting);
    this.over = undefined;
    this.hide();
  }

  ask() {
    if (!this.over) return;
    const name = this.over.place.join();
    if (this.kept.has(name)) {
      this.show(this.kept.get(name));
    } else if (!this.asked) {
      this.asked = this.over.place;
      this.send({ of: this.of, place: this.asked });
    }
  }

  show(text) {
    const [before, marked, after] = text.parts;
    const sentence = [before, ...(marked ? [make("mark", "", marked)] : []), after];
    this.root.replaceChildren(...sentence, ...text.labels.map((label) => make("div", "", label)));
    this.root.showPopover?.();
    const { width, height } = this.root.getBoundingClientRect();
    const { left, top } = this.over;
    const { innerWidth, innerHeight } = window;
    const isRight = left + GAP + width < innerWidth;
    const isBeside = isRight || left > GAP + width;
    const above = top > GAP + height ? top - GAP - height : top + GAP;
    const x = isRight ? left + GAP : isBeside ? left - GAP - width : (innerWidth - width) / 2;
    const y = isBeside ? Math.min(Math.max(0, top - height / 2), innerHeight - height) : above;
    Object.assign(this.root.style, { left: `${x}px`, top: `${y}px` });
    document.addEventListener("scroll", this.onScroll, { capture: true, once: true });
  }

  hide() {
    if (this.root.matches(":popover-open")) this.root.hidePopover();
  }
}
