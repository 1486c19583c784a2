// One sentence, or two, one above the other: words coloured by what they are worth. Pointing at a word
// shows its lines to the other sentence; a click or Enter keeps them.
// User text reaches the page through textContent and setAttribute only.

import { floats, update } from "./component.js";
import { button, make, set, shape } from "./elements.js";
import { Linked, placeOf, same } from "./linked.js";
import { watch } from "./scrolling.js";

const SIDES = ["first", "second"];
const FEW = 48; // words of both together under which each has its number
const SHORT = 64; // characters of either sentence under which both are set large
const SHORTEST = 48; // and under which they are set larger on a wide screen
const NAMED = 4; // of the strongest partners, in words
const DIGITS = 2; // at least
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

export default function render(given) {
  update(Words, ".alike", given);
}

class Words extends Linked {
  constructor(root) {
    super(root, ".word", { ArrowUp: "first", ArrowDown: "second" });
  }

  update(data) {
    const { picked, ...rest } = data;
    const content = JSON.stringify(rest);
    const changed = content !== this.content;
    this.data = data;
    this.picked = picked;
    if (changed) this.build();
    this.content = content;
    this.tabStop(picked ? this.items(picked.side)[picked.index] : this.words[0]);
    this.show(picked);
  }

  build() {
    const { sides, cells, links, end, says } = this.data;
    this.cells = cells ? floats(cells) : null;
    this.widest = this.cells?.reduce((end, own) => Math.max(end, Math.abs(own)), 0) || 1;
    this.digits = digitsFor(this.widest);
    const n = sides.reduce((sum, { words }) => sum + words.length, 0);
    this.svg = shape("svg", { "aria-hidden": "true" });
    this.rows = sides.map((side, i) => row(side, SIDES[i], this.data, n <= FEW));
    const inner = make("div", "inner");
    inner.append(this.svg, ...this.rows);
    this.area = make("div", "area");
    this.area.append(inner);
    this.says = make("div", "says");
    this.says.setAttribute("aria-live", "polite");
    this.root.classList.toggle("many", n > FEW);
    this.root.classList.toggle("one", sides.length === 1);
    const isBare = cells || !links.length;
    this.root.classList.toggle(
      "large",
      isBare && n <= FEW && sides.every((side) => length(side) <= SHORT),
    );
    this.root.classList.toggle(
      "shortest",
      sides.every((side) => length(side) <= SHORTEST),
    );
    this.root.classList.toggle("pickable", this.data.pickable);
    this.root.classList.toggle("bare", isBare);
    const below = make("div", "below");
    below.append(this.says, legend(says, end));
    this.root.replaceChildren(this.area, below);
    this.words = this.rows.flatMap((each) => [...each.querySelectorAll(".word")]);
    this.watcher?.disconnect();
    this.watcher = new ResizeObserver(() => this.draw(this.active));
    this.watcher.observe(inner);
    watch(this.area);
  }

  items(side) {
    return side ? this.words.filter((word) => word.dataset.side === side) : this.words;
  }

  pick(place) {
    if (!this.data.pickable) return undefined;
    return same(this.picked, place) ? null : place;
  }

  // The lines that are drawn while no word is looked at.
  links() {
    return this.data.links.map(([i, j]) => [i, j, null]);
  }

  // What a word has with each word of the other sentence.
  lines({ side, index }) {
    if (!this.cells) return this.links().filter((link) => link[SIDES.indexOf(side)] === index);
    const width = this.data.sides[1].words.length;
    const n = this.data.sides[side === "first" ? 1 : 0].words.length;
    return Array.from({ length: n }, (_, other) => {
      const [i, j] = side === "first" ? [index, other] : [other, index];
      return [i, j, this.cells[i * width + j]];
    });
  }

  show(active) {
    this.active = active;
    const partners = active ? this.lines(active) : [];
    for (const word of this.words) {
      const own = placeOf(word);
      const here = same(active, own);
      word.classList.toggle("active", here);
      word.classList.toggle("picked", same(this.picked, own));
      if (this.data.pickable) {
        word.setAttribute("aria-pressed", String(same(this.picked, own)));
      }
    }
    this.tell(active, partners);
    this.draw(active);
  }

  draw(active) {
    if (!this.svg.isConnected) return;
    const ground = this.area.firstChild.getBoundingClientRect();
    if (!ground.width) return;
    set(this.svg, { viewBox: `0 0 ${ground.width} ${ground.height}` });
    const boxes = this.rows.map((each) =>
      [...each.querySelectorAll(".box")].map((box) => box.getBoundingClientRect()),
    );
    const lines = active ? this.lines(active) : this.links();
    const drawn = lines.filter(
      ([, , value]) => value === null || Math.abs(value) > 0.005 * this.widest,
    );
    this.svg.replaceChildren(
      ...drawn.map(([i, j, value]) => this.line(boxes[0][i], boxes[1][j], value, ground)),
    );
  }

  line(from, to, value, ground) {
    const [x1, y1] = [from.left + from.width / 2 - ground.left, from.bottom - ground.top];
    const [x2, y2] = [to.left + to.width / 2 - ground.left, to.top - ground.top];
    const bend = Math.max(12, (y2 - y1) * 0.45);
    const strength = value === null ? 0.4 : Math.abs(value) / this.widest;
    return shape("path", {
      class: value === null ? "link" : value < 0 ? "low" : "high",
      d: `M${x1} ${y1} C ${x1} ${y1 + bend}, ${x2} ${y2 - bend}, ${x2} ${y2}`,
      "stroke-width": value === null ? 1.5 : 0.75 + 5 * strength,
      "stroke-opacity": value === null ? 0.6 : 0.15 + 0.75 * strength,
    });
  }

  tell(active, partners) {
    const { says, sides } = this.data;
    if (!active) {
      this.says.textContent = says.hint;
      return;
    }
    const own = SIDES.indexOf(active.side);
    const word = sides[own].words[active.index];
    const value =
      word.value === null
        ? ""
        : ` ${says.quantity} ${signed(word.value, digitsFor(this.data.end))}`;
    const told = value + this.named(partners, 1 - own);
    this.says.textContent = told ? `${word.text} · ${sides[own].letter}:${told}` : says.hint;
  }

  named(partners, other) {
    const { says, sides } = this.data;
    const words = sides[other]?.words;
    if (!words) return "";
    const text = (line) => words[line[other]].text;
    if (!this.cells) {
      return partners.length ? `, ${says.between} ${partners.map(text).join(", ")}` : "";
    }
    const order = [...partners].sort((a, b) => Math.abs(b[2]) - Math.abs(a[2])).slice(0, NAMED);
    const listed = order.map((line) => `${text(line)} ${signed(line[2], this.digits)}`).join(", ");
    return listed ? `, ${says.between} ${listed}` : "";
  }
}

// Enough of them for the largest to have two that count.
function digitsFor(end) {
  return Math.min(8, Math.max(DIGITS, 1 - Math.floor(Math.log10(end))));
}

function signed(value, digits = DIGITS) {
  const rounded = Math.abs(value).toFixed(digits);
  const sign = Number(rounded) === 0 ? "" : value < 0 ? "−" : "+";
  return sign + rounded;
}

function row({ letter, color, words }, side, { end, says, pickable }, numbered) {
  const element = make("div", `row ${side}`);
  element.dir = direction(words);
  element.style.setProperty("--row", color);
  element.setAttribute("role", "group");
  element.setAttribute("aria-label", `Words of sentence ${letter}`);
  element.append(make("span", "letter", letter));
  words.forEach((given, index) => {
    element.append(chip(given, { side, index, end, says, letter, pickable, numbered }));
  });
  return element;
}

function chip({ position, text, kind, value, joined, tag }, own) {
  const word = own.pickable ? button(`word ${kind}`) : make("span", `word ${kind}`);
  word.dataset.side = own.side;
  word.dataset.index = own.index;
  word.dataset.position = position;
  word.classList.toggle("joined", joined);
  const box = make("span", "box", text);
  const told = value === null ? "" : signed(value, digitsFor(own.end));
  if (value !== null) {
    box.classList.add(value < 0 ? "low" : "high");
    const strength = Math.min(1, Math.abs(value) / own.end);
    box.style.setProperty("--mix", `${Math.round(72 * strength)}%`);
  }
  word.append(box);
  if (tag) word.classList.add("tagged");
  const below = tag || (own.numbered ? told : "");
  if (below) word.append(" ", make("span", "value", below));
  // A name begins with what is seen, for who speaks it to choose the word.
  const seen = below ? `${text} ${below}` : text;
  const about = told && !own.numbered ? `, ${own.says.quantity} ${told}` : "";
  word.setAttribute("aria-label", `${seen}, sentence ${own.letter}${about}`);
  if (!own.pickable) word.setAttribute("role", "note");
  return word;
}

// The scale of the colours, from the largest value below zero to the same above it.
function legend({ low, high }, end) {
  const element = make("div", "legend");
  if (!high) return element;
  const digits = digitsFor(end);
  element.append(
    make("span", "", `${low} ${signed(-end, digits)}`),
    make("span", "scale"),
    make("span", "", `${signed(end, digits)} ${high}`),
  );
  return element;
}

// That of the first letter of the text: "auto" would go by the sentence's own letter.
function direction(words) {
  const text = words.map(({ kind, text }) => (kind === "special" ? "" : text)).join("");
  return RIGHT_TO_LEFT.test(/\p{L}/u.exec(text)?.[0] ?? "") ? "rtl" : "ltr";
}

function length({ words }) {
  return words.reduce((n, { text }) => n + text.length + 1, 0);
}
