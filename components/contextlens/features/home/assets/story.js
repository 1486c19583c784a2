// Sentences with an arc from each word to the chosen one, and the chosen words on a line between
// two ends. All layers are here, so that moving between them asks nothing of the server.
// User text reaches the page through textContent and setAttribute only.

import { update } from "../../../ui/widgets/assets/component.js";
import { make, set, shape } from "../../../ui/widgets/assets/elements.js";
import { follow } from "../../../ui/widgets/assets/layers.js";

const ROOM = [0, 84, 84, 56, 44]; // pixels for arcs above a row, by the number of rows
const WIDEST = 16; // pixels of the widest arc
const LEAST_END = 0.05; // the change that an arc of this width stands for, at least
const MANY = 60; // characters of a sentence from which all are set smaller
const LANE = 30; // pixels
const RADIUS = 11;
const HEIGHT = 120; // of the similarities over the layers
const NS = { left: -1, right: 1 };

export default function render(given) {
  update(Story, ".story", given);
}

class Story {
  constructor(root) {
    this.root = root;
    this.watcher = new ResizeObserver(() => this.measure());
    this.follower = follow(root, (layer) => this.draw(layer));
  }

  update({ layer, alt, ...rest }) {
    this.at ??= layer;
    const content = JSON.stringify(rest);
    if (content !== this.content) this.build(rest);
    this.content = content;
    this.root.ariaLabel = alt;
    this.follower.rest(layer);
  }

  build(data) {
    this.data = data;
    this.end = Math.max(LEAST_END, ...data.rows.flatMap(({ changes }) => (changes ?? []).flat()));
    this.rows = data.rows.map((row) => new Row(row, this.end));
    const rows = make("div", "rows");
    rows.append(...this.rows.map((row) => row.root));
    const below = data.tug ? new Tug(data.tug, data.rows) : data.alike && new Alike(data.alike);
    this.below = below || null;
    this.root.replaceChildren(rows, ...(below ? below.parts : []));
    const longest = Math.max(
      ...data.rows.map(({ words }) => words.map((w) => w.text).join(" ").length),
    );
    this.root.classList.toggle("many", longest > MANY || data.rows.length > 2);
    this.watcher.disconnect();
    this.watcher.observe(this.root);
    this.measure();
  }

  // Arcs need all words of a sentence on one line; else a bar over each word stands for its arc.
  measure() {
    const width = this.root.clientWidth;
    if (!width) return;
    const room = ROOM[this.data.rows.length] ?? 0;
    this.root.classList.remove("folded");
    this.root.style.setProperty("--room", "0");
    for (const row of this.rows) row.unfold();
    const fits = room > 0 && this.rows.every((row) => row.isOnOneLine);
    this.root.classList.toggle("folded", !fits);
    this.root.style.setProperty("--room", fits ? `${room}px` : "0");
    for (const row of this.rows) row.measure(fits ? room : 0);
    this.below?.measure(width);
    this.isMeasured = true;
    this.draw(this.at);
  }

  draw(layer) {
    this.at = layer;
    if (!this.isMeasured) return;
    const i = layer - this.data.layers[0];
    for (const row of this.rows) row.draw(i);
    this.below?.draw(i);
  }
}

class Row {
  constructor({ letter, color, ink, dir, words, changes, says, cut }, end) {
    Object.assign(this, { changes, says, end, color });
    this.root = make("div", "row");
    this.root.dir = dir;
    this.root.style.setProperty("--row", color);
    this.root.style.setProperty("--ink", ink);
    this.svg = shape("svg", { "aria-hidden": "true" });
    this.chips = words.map(chip);
    const inner = make("div", "words");
    if (cut[0]) inner.append(make("span", "left-out", "…"));
    inner.append(...this.chips);
    if (cut[1]) inner.append(make("span", "left-out", "…"));
    this.said = make("span", "says");
    this.said.dir = "ltr";
    this.root.append(this.svg, make("span", "badge", letter), inner, this.said);
    this.moving = words.flatMap((word, i) => (word.chosen || !changes ? [] : [i]));
    this.chosen = words.flatMap((word, i) => (word.chosen ? [i] : []));
  }

  get isOnOneLine() {
    const tops = this.chips.map((each) => each.offsetTop);
    return Math.max(...tops) === Math.min(...tops);
  }

  unfold() {
    this.said.classList.remove("under");
  }

  measure(room) {
    this.room = room;
    for (const each of this.chips) each.firstChild.hidden = room > 0;
    this.said.classList.toggle("under", this.said.offsetLeft < this.chips[0].offsetLeft);
    this.paths = room
      ? this.moving.map(() => shape("path", { fill: "none", stroke: this.color }))
      : [];
    this.svg.replaceChildren(...this.paths);
    if (!room) return;
    const middle = (each) => each.offsetLeft + each.offsetWidth / 2;
    const chosen = this.chosen.map((i) => middle(this.chips[i]));
    const to = chosen.reduce((sum, each) => sum + each, 0) / chosen.length;
    this.moving.forEach((i, n) => {
      const [from, top] = [middle(this.chips[i]), this.chips[i].offsetTop - 2];
      const up = Math.min((room - WIDEST / 2) / 0.75, Math.abs(to - from) * 0.34 + 8);
      const d = `M${from},${top} C${from},${top - up} ${to},${top - up} ${to},${top}`;
      set(this.paths[n], { d });
    });
  }

  draw(i) {
    this.said.textContent = this.says[Math.round(i)];
    this.moving.forEach((word, n) => {
      const share = between(this.changes, i, (at) => at[word]) / this.end;
      const strength = Math.min(0.85, 0.15 + 0.85 * Math.sqrt(share));
      if (this.room) {
        const width = Math.max(0.75, share * WIDEST);
        set(this.paths[n], { "stroke-width": width, opacity: share ? strength : 0.12 });
      } else {
        this.chips[word].style.setProperty("--high", `${share * WIDEST * 0.6}px`);
        this.chips[word].style.setProperty("--strength", strength);
      }
    });
  }
}

function chip({ text, glued, chosen, hover }) {
  const element = make("span", chosen ? "word chosen" : "word");
  element.classList.toggle("glued", glued);
  const name = make("bdi", "", text);
  element.append(make("span", "bar"), name);
  element.title = hover;
  return element;
}

// Each use has a lane between the two ends; its trail begins where it was at layer 0.
class Tug {
  constructor({ left, right, middle, reach, margins, uses, start, says }, rows) {
    Object.assign(this, { middle, reach, margins, uses, start, rows });
    const ends = make("div", "ends");
    for (const [side, text] of [
      ["left", left],
      ["right", right],
    ]) {
      const end = make("span", "");
      const name = make("bdi", "", text);
      end.append(...(NS[side] < 0 ? ["◂ ", name] : [name, " ▸"]));
      ends.append(end);
    }
    this.svg = shape("svg", { class: "line", "aria-hidden": "true" });
    this.note = make("div", "says", says);
    this.parts = [ends, this.svg, this.note];
  }

  measure(width) {
    const bottom = this.uses.length * LANE;
    const half = width / 2 - RADIUS - 2;
    this.x = (place) =>
      width / 2 + Math.max(-1, Math.min(1, (place - this.middle) / this.reach)) * half;
    const height = bottom + (this.start ? 22 : 4);
    set(this.svg, { height, viewBox: `0 0 ${width} ${height}` });
    this.band = shape("rect", { class: "band", y: 0, height: bottom, rx: 4 });
    const parts = [this.band];
    this.marks = this.uses.map(({ row, other }, n) => {
      const y = LANE * (n + 0.5);
      const { color, ink, letter } = this.rows[row];
      const track = shape("line", { class: "track", x1: 2, x2: width - 2, y1: y, y2: y });
      const trail = shape("path", { class: "trail", stroke: color });
      const dot = shape("circle", { class: "dot", cy: y, r: RADIUS, stroke: color });
      const name = shape("text", { class: "name", y: y + 5, "text-anchor": "middle" });
      name.textContent = letter;
      const aside = shape("text", { y: y - 8 });
      aside.textContent = other ?? "";
      parts.push(track, trail, dot, name, aside);
      return { y, color, ink, trail, dot, name, aside };
    });
    if (this.start) {
      const x = this.x(this.uses[0].places[0]);
      const label = shape("text", { x, y: bottom + 17, "text-anchor": "middle" });
      label.textContent = this.start;
      parts.splice(1, 0, shape("line", { class: "start", x1: x, x2: x, y1: 0, y2: bottom }));
      parts.push(label);
    }
    this.svg.replaceChildren(...parts);
  }

  draw(i) {
    const wide = Math.min(
      this.reach,
      between(this.margins, i, (each) => each ?? this.reach),
    );
    const [low, high] = [this.x(this.middle - wide), this.x(this.middle + wide)];
    set(this.band, { x: low, width: high - low });
    this.uses.forEach(({ places, clear }, n) => {
      const { y, color, ink, trail, dot, name, aside } = this.marks[n];
      const x = this.x(between(places, i, (each) => each));
      const passed = places.slice(0, Math.floor(i) + 1).map((each) => `${this.x(each)},${y}`);
      set(trail, { d: `M${passed.join("L")}L${x},${y}` });
      const is = clear[Math.round(i)];
      set(dot, { cx: x, fill: is ? color : "var(--st-background-color)" });
      name.style.fill = is ? ink : "var(--st-text-color)";
      set(name, { x });
      const toEnd =
        x < this.x(this.middle)
          ? { x: x + 16, "text-anchor": "start" }
          : { x: x - 16, "text-anchor": "end" };
      set(aside, toEnd);
    });
  }
}

// Where nothing tells the meanings: how alike the words are over the layers, up is more alike.
class Alike {
  constructor({ title, unrelated, lines, random, low }) {
    Object.assign(this, { unrelated, lines, random, low });
    this.svg = shape("svg", { class: "line", "aria-hidden": "true" });
    this.parts = [make("div", "says", title), this.svg];
  }

  measure(width) {
    const n = this.lines[0].along.length;
    this.x = (i) => 8 + ((width - 120) * i) / Math.max(1, n - 1);
    this.y = (value) => 12 + ((HEIGHT - 24) * (1 - value)) / (1 - this.low);
    set(this.svg, { height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}` });
    const parts = [];
    if (this.random) {
      const points = this.random.map((each, i) => `${this.x(i)},${this.y(each)}`).join("L");
      const label = shape("text", { x: 8, y: this.y(this.random[0]) - 5 });
      label.textContent = this.unrelated;
      parts.push(shape("path", { class: "start", fill: "none", d: `M${points}` }), label);
    }
    this.marks = this.lines.map(({ color }) => {
      const trail = shape("path", { class: "trail", stroke: color });
      const dot = shape("circle", { r: 6, fill: color });
      const name = shape("text", { class: "name" });
      parts.push(trail, dot, name);
      return { trail, dot, name };
    });
    this.svg.replaceChildren(...parts);
  }

  draw(i) {
    this.lines.forEach(({ along, name }, n) => {
      const marks = this.marks[n];
      const value = between(along, i, (each) => each);
      const [x, y] = [this.x(i), this.y(value)];
      const passed = along
        .slice(0, Math.floor(i) + 1)
        .map((each, k) => `${this.x(k)},${this.y(each)}`);
      set(marks.trail, { d: `M${passed.join("L")}L${x},${y}` });
      set(marks.dot, { cx: x, cy: y });
      set(marks.name, { x: x + 12, y: y + 5 });
      marks.name.textContent = `${name} ${value.toFixed(2).replace("-", "−")}`;
    });
  }
}

// The value at a place between two layers.
function between(values, i, of) {
  const low = Math.min(values.length - 1, Math.floor(i));
  const first = of(values[low]);
  if (low === i || low + 1 >= values.length) return first;
  return first + (of(values[low + 1]) - first) * (i - low);
}
