// The points of a map as cards. Arrow keys move between them, and the chart shows the point at once;
// the server draws its ring when the keys rest. User text reaches the page through textContent only.

import { update } from "../../../ui/widgets/assets/component.js";
import { make } from "../../../ui/widgets/assets/elements.js";
import { moved, stopAt, within } from "../../../ui/widgets/assets/keyboard.js";

const REST_MS = 350; // after the last of quick steps

export default function render(given) {
  update(Cards, ".cards", given);
}

class Cards {
  constructor(root) {
    this.root = root;
    this.cards = [];
    root.setAttribute("role", "listbox");
    root.addEventListener("click", (event) => this.choose(event.target.closest(".card")));
    root.addEventListener("dblclick", (event) => this.open(event.target.closest(".card")));
    root.addEventListener("keydown", (event) => this.onKey(event));
  }

  update(data) {
    const focused = this.cards.indexOf(this.root.getRootNode().activeElement);
    const before = this.said;
    this.chart = data.chart;
    this.said = data.cards.map((card) => card.point).join();
    this.root.setAttribute("aria-label", data.name);
    this.cards = data.cards.map((card) => cardOf(card, data.of));
    this.root.replaceChildren(...this.cards);
    const chosen = this.cards.find((card) => Number(card.dataset.point) === data.chosen);
    this.select(this.resting ? this.cards[focused] : chosen);
    const stop = this.cards[before === this.said ? focused : -1] ?? chosen ?? this.cards[0];
    stopAt(this.cards, stop);
    if (focused >= 0 && stop) stop.focus({ preventScroll: true });
  }

  select(chosen) {
    for (const card of this.cards) card.ariaSelected = String(card === chosen);
  }

  choose(card) {
    if (!card) return;
    this.select(card);
    stopAt(this.cards, card);
    this.show(card);
    clearTimeout(this.resting);
    this.resting = setTimeout(() => {
      this.resting = undefined;
      this.send({ of: card.dataset.of, point: Number(card.dataset.point), wish: "choose" });
    }, REST_MS);
  }

  open(card) {
    if (!card) return;
    clearTimeout(this.resting);
    this.resting = undefined;
    this.send({ of: card.dataset.of, point: Number(card.dataset.point), wish: "open" });
  }

  onKey(event) {
    const at = this.cards.indexOf(event.target.closest(".card"));
    if (at < 0) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      if (event.key === "Enter") this.open(this.cards[at]);
      else this.choose(this.cards[at]);
      return;
    }
    const last = this.cards.length - 1;
    const to = moved(event, { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: last });
    if (to === undefined) return;
    const next = within(this.cards, to);
    next.focus();
    this.choose(next);
  }

  // The point's own label on the chart. A chart in space, or one that still loads, has none.
  show(card) {
    const [curveNumber, pointNumber] = JSON.parse(card.dataset.place);
    if (curveNumber === undefined) return;
    for (const chart of document.querySelectorAll(`.${CSS.escape(this.chart)} .js-plotly-plot`)) {
      if (chart._fullLayout?.xaxis) window.Plotly?.Fx?.hover(chart, [{ curveNumber, pointNumber }]);
    }
  }
}

function cardOf({ point, before, marked, after, label, color, note, place }, of) {
  const card = make("div", "card");
  card.dataset.of = of; // the points that it is one of
  card.dataset.point = point;
  card.dataset.place = JSON.stringify(place);
  card.setAttribute("role", "option");
  const text = make("div", "text");
  text.dir = "auto";
  text.append(before, ...(marked ? [make("mark", "", marked)] : []), after);
  card.append(text);
  if (!label && !note) return card;
  const line = make("div", "line");
  if (label) {
    const dot = make("span", "dot");
    if (color) dot.style.setProperty("--own", color);
    line.append(dot, make("span", "label", label));
  }
  line.append(make("span", "note", note));
  card.append(line);
  return card;
}
