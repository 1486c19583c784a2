// Which token attends to which: two columns of tokens, lines between them as strong as the weights.
// Two tokens are chosen, one on each side. Pointing at a token shows its weights; a click keeps it.
// User text reaches the page through textContent and setAttribute only.

import { floats, update } from "../../../ui/widgets/assets/component.js";
import { button, make, set, shape } from "../../../ui/widgets/assets/elements.js";
import { Linked } from "../../../ui/widgets/assets/linked.js";

const ROOMY = 14; // items whose text is larger
const ALL_LINES = 48; // items among which the lines of the others are drawn too, faintly
const LEAST = 0.004; // a weight whose line could not be seen
const NAMED = 4; // of the largest weights, in words

export default function render(given) {
  update(Lines, ".lines", given);
}

class Lines extends Linked {
  constructor(root) {
    super(root, ".token", { ArrowLeft: "from", ArrowRight: "to" });
  }

  update(data) {
    const content = JSON.stringify([data.rows, data.columns, data.verbs]);
    const changed = content !== this.content;
    if (changed || data.weights !== this.encoded) this.weights = floats(data.weights);
    this.encoded = data.weights;
    this.data = data;
    this.picked = { side: data.picked.side, index: data.picked[data.picked.side] };
    if (changed) this.build(data);
    this.content = content;
    this.tabStop(this.items(this.picked.side)[this.picked.index]);
    this.show(this.picked);
    if (changed) this.reveal();
  }

  build({ rows, columns, verbs }) {
    const longest = Math.max(rows.length, columns.length);
    const head = make("div", "head");
    head.append(make("span", "", verbs[0]), make("span", "", verbs[1]));
    this.svg = shape("svg", { "aria-hidden": "true", preserveAspectRatio: "none" });
    this.from = side("from", rows, verbs[0]);
    this.to = side("to", columns, verbs[1]);
    const sides = make("div", "sides");
    sides.append(this.from, this.svg, this.to);
    this.area = make("div", "area");
    this.area.append(sides);
    this.says = make("div", "says");
    this.says.setAttribute("aria-live", "polite");
    set(this.svg, { viewBox: `0 0 100 ${longest}` });
    this.root.style.setProperty("--longest", Math.max(1, longest));
    this.root.classList.toggle("small", longest > ROOMY);
    this.root.replaceChildren(head, this.area, this.says);
  }

  items(side) {
    return side ? [...this[side].children] : [...this.from.children, ...this.to.children];
  }

  // The weights of a row or column, in the order of the other side.
  of({ side, index }) {
    const n = this.data.columns.length;
    if (side === "from") return this.weights.subarray(index * n, (index + 1) * n);
    return this.data.rows.map((_, row) => this.weights[row * n + index]);
  }

  // A click on one side leaves the choice on the other.
  pick(place) {
    this.data.picked = { ...this.data.picked, side: place.side, [place.side]: place.index };
    return place;
  }

  show(active) {
    const values = this.of(active);
    const other = active.side === "from" ? "to" : "from";
    const chosen = this.data.picked;
    const partner = chosen[active.side] === active.index ? chosen[other] : -1;
    for (const name of ["from", "to"]) {
      const tokens = this.items(name);
      for (let i = 0; i < tokens.length; i += 1) {
        const own = name === active.side;
        const value = tokens[i].lastChild;
        tokens[i].classList.toggle("active", own && i === active.index);
        tokens[i].classList.toggle("partner", !own && i === partner);
        tokens[i].setAttribute("aria-pressed", String(chosen[name] === i));
        value.textContent = own ? "" : share(values[i]);
        this.call(tokens[i], value.textContent);
        value.classList.toggle("strong", !own && i === partner);
      }
    }
    this.draw(active, values, partner);
    this.tell(active, values, other);
  }

  // A name begins with what is seen, for who speaks it to choose the token.
  call(token, value) {
    const { text } =
      this.data[token.dataset.side === "to" ? "columns" : "rows"][Number(token.dataset.index)];
    const verb = token.parentElement.getAttribute("aria-label");
    const seen = value ? `${text} ${value}` : text;
    token.setAttribute("aria-label", `${seen}, token ${token.dataset.position}, ${verb}`);
  }

  draw(active, values, partner) {
    const { rows, columns } = this.data;
    const paths = [];
    if (Math.max(rows.length, columns.length) <= ALL_LINES) {
      for (let row = 0; row < rows.length; row += 1) {
        for (let column = 0; column < columns.length; column += 1) {
          const own = (active.side === "from" ? row : column) === active.index;
          const weight = this.weights[row * columns.length + column];
          if (!own && weight > 0.05) paths.push(line(row, column, weight, "faint"));
        }
      }
    }
    values.forEach((weight, i) => {
      const [row, column] = active.side === "from" ? [active.index, i] : [i, active.index];
      if (weight >= LEAST && i !== partner) paths.push(line(row, column, weight, "own"));
    });
    if (partner >= 0) {
      const [row, column] =
        active.side === "from" ? [active.index, partner] : [partner, active.index];
      paths.push(line(row, column, values[partner], "joined"));
    }
    this.svg.replaceChildren(...paths);
  }

  tell(active, values, other) {
    if (active.side === this.picked.side && active.index === this.picked.index) {
      this.says.textContent = this.data.hint;
      return;
    }
    const items = { from: this.data.rows, to: this.data.columns };
    const own = items[active.side][active.index];
    const order = [...values.keys()].sort((a, b) => values[b] - values[a]).slice(0, NAMED);
    const named = order.map((i) => `${items[other][i].text} ${share(values[i]) || "0%"}`);
    const arrow = active.side === "from" ? "→" : "←";
    this.says.textContent = `${own?.text ?? ""} (${own?.position ?? ""}) ${arrow} ${named.join(", ")}`;
  }

  // Scrolls the list's own area, never the page.
  reveal() {
    const token = this.items(this.picked.side)[this.picked.index];
    if (!token) return;
    const middle = token.offsetTop - (this.area.clientHeight - token.offsetHeight) / 2;
    this.area.scrollTop = Math.max(0, middle);
  }
}

// A weight in whole per cent; nothing for what rounds to none.
function share(weight) {
  const rounded = Math.round(100 * weight);
  return rounded ? `${rounded}%` : "";
}

function line(row, column, weight, kind) {
  const [a, b] = [row + 0.5, column + 0.5];
  const width = { faint: 1 + weight, own: 1 + 6 * weight, joined: 2 + 8 * weight }[kind];
  return shape("path", {
    class: kind,
    d: `M0 ${a} C 45 ${a}, 55 ${b}, 100 ${b}`,
    "stroke-width": width,
    "stroke-opacity": { faint: 0.12 + 0.2 * weight, own: 0.45 + 0.5 * weight, joined: 1 }[kind],
    "vector-effect": "non-scaling-stroke",
  });
}

function side(name, items, verb) {
  const list = make("div", `side ${name}`);
  list.setAttribute("role", "group");
  list.setAttribute("aria-label", verb);
  list.append(
    ...items.map(({ position, text, kind }, index) => {
      const token = button(`token ${kind}`);
      token.dataset.side = name;
      token.dataset.index = index;
      token.dataset.position = position;
      token.append(make("span", "name", text), " ", make("span", "value"));
      return token;
    }),
  );
  return list;
}
