// A text and its tokens: pointing at one lights the other up; a click or Enter picks a token.
// Python cut the text at the tokens' offsets; nothing here measures a string.
// User text reaches the page through textContent and setAttribute only.

import { update } from "./component.js";
import { button, make } from "./elements.js";
import { moved, stopAt, within } from "./keyboard.js";
import { reveal, watch } from "./scrolling.js";

const HINT = "Point at a token, or at the text, to see which belongs to which.";
const FEW = 24; // tokens of a text that is shown larger
const FEWER = 16; // tokens of a text that is shown largest where it is the picture

export default function render(given) {
  update(Strip, ".strip", given);
}

class Strip {
  constructor(root) {
    this.root = root;
    this.keyed = false; // a key moved last, not the pointer
    root.addEventListener("pointerover", (event) => this.keyed || this.light(event.target));
    root.addEventListener("pointermove", (event) => this.keyed && this.point(event.target));
    root.addEventListener("pointerleave", () => this.keyed || this.light(null));
    root.addEventListener("focusin", (event) => this.light(event.target));
    root.addEventListener("focusout", () => this.point(null));
    root.addEventListener("click", (event) => this.onClick(event));
    root.addEventListener("keydown", (event) => this.onKey(event));
  }

  update(data) {
    const content = JSON.stringify([data.texts, data.tokens, data.name, data.captions]);
    this.pickable = data.pickable;
    this.root.style.setProperty("--row", data.color);
    this.root.classList.toggle("pickable", data.pickable);
    const n = data.tokens.length;
    this.root.classList.toggle("few", data.pickable && n <= FEW);
    this.root.classList.toggle("large", data.captions.length > 0 && n <= FEWER);
    if (content !== this.content) this.build(data);
    this.content = content;
    this.choose(data.picked);
  }

  build({ texts, tokens, name, captions }) {
    const active = this.root.getRootNode().activeElement;
    const focused = active && this.root.contains(active) ? active.dataset.position : null;
    const scrolled = this.root.querySelector(".tokens")?.scrollTop ?? 0;
    const list = make("div", "tokens");
    list.setAttribute("role", "toolbar");
    list.setAttribute("aria-label", `Tokens of ${name}`);
    list.append(...tokens.map((token) => chip(token)));
    if (!tokens.length) list.append(make("span", "empty", "No tokens of its own."));
    this.says = make("div", "says", tokens.length ? HINT : "");
    const [above, below] = captions.map((caption) => make("div", "caption", caption));
    const lines = texts.map((text, i) => line(text, i));
    this.root.replaceChildren(...[above, ...lines, below, list, this.says].filter(Boolean));
    this.tokens = [...list.querySelectorAll(".token")];
    this.pieces = [...this.root.querySelectorAll(".piece")];
    list.scrollTop = scrolled;
    for (const area of [list, ...this.root.querySelectorAll(".line")]) watch(area);
    if (focused) this.at(Number(focused))?.focus({ preventScroll: true });
  }

  at(position) {
    return this.tokens.find((token) => Number(token.dataset.position) === position);
  }

  choose(position) {
    const chosen = this.at(position);
    for (const token of this.tokens) {
      token.classList.toggle("picked", token === chosen);
      if (this.pickable) token.setAttribute("aria-pressed", String(token === chosen));
    }
    stopAt(this.tokens, chosen ?? this.tokens[0]);
  }

  light(target) {
    const token = target?.closest?.(".token");
    const piece = target?.closest?.(".piece");
    const lit = new Set(token ? [token.dataset.position] : owners(piece));
    for (const each of this.tokens) each.classList.toggle("lit", lit.has(each.dataset.position));
    for (const each of this.pieces) {
      each.classList.toggle(
        "lit",
        owners(each).some((position) => lit.has(position)),
      );
    }
    const first = token ?? this.tokens.find((each) => lit.has(each.dataset.position));
    this.says.textContent = first ? first.dataset.says : HINT;
    if (piece && first) reveal(first.parentElement, first);
  }

  point(target) {
    this.keyed = false;
    this.light(target);
  }

  onClick(event) {
    const token = event.target.closest(".token") ?? this.of(event.target.closest(".piece"));
    if (token && this.pickable) this.pick(Number(token.dataset.position));
  }

  of(piece) {
    const [first] = owners(piece);
    return first === undefined ? null : this.at(Number(first));
  }

  pick(position) {
    this.choose(position); // at once; Python's answer follows
    this.send(position);
  }

  onKey(event) {
    const token = event.target.closest(".token");
    if (!token) return;
    const at = this.tokens.indexOf(token);
    const sides = { ArrowLeft: at - 1, ArrowRight: at + 1 };
    const to = moved(event, { ...sides, Home: 0, End: this.tokens.length - 1 });
    if (to === undefined) return;
    const next = within(this.tokens, to);
    stopAt(this.tokens, next);
    next.focus();
    this.keyed = true; // what it scrolls under a resting pointer is not pointed at
  }
}

function owners(piece) {
  return piece?.dataset.tokens ? piece.dataset.tokens.split(" ") : [];
}

function line({ name, segments }, index) {
  const element = make("div", index ? "line pair" : "line");
  element.dir = "auto";
  element.setAttribute("aria-label", name);
  for (const { text, tokens, lost, chosen } of segments) {
    const piece = make("span", "piece", text);
    piece.dataset.tokens = tokens.join(" ");
    piece.classList.toggle("owned", tokens.length > 0);
    piece.classList.toggle("lost", lost);
    piece.classList.toggle("chosen", chosen);
    if (lost) piece.title = "Cut off: the model does not see this part.";
    element.append(piece);
  }
  if (!segments.length) element.append(make("span", "empty", "empty"));
  return element;
}

function chip({ position, mark, text, id, kind, joined, chosen, says }) {
  const token = button(`token ${kind.split(" ")[0]}`);
  token.dataset.position = position;
  token.classList.toggle("joined", joined);
  token.classList.toggle("chosen", chosen);
  // A name begins with what is seen, for who speaks it to choose the token.
  token.setAttribute("aria-label", `${mark}${text} ${id}, token ${position}, ${says}`);
  token.dataset.says = `Token ${position}: ${mark}${text}, ID ${id}, ${says}`;
  const box = make("span", "box");
  if (mark) box.append(make("span", "mark", mark));
  box.append(text);
  token.append(box, " ", make("span", "id", String(id)));
  return token;
}
