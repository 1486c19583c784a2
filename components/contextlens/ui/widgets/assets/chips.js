// The words of sentences as buttons: chosen by click or by keyboard, reported as code points.
// A pencil at a row's end, or F2, makes a field of its text: Enter or leaving it reports what was
// typed, Escape drops it.
// Python cuts the text and counts its code points; nothing here measures a string.
// User text reaches the page through textContent and setAttribute only.

import { update } from "./component.js";
import { button, make } from "./elements.js";
import { moved, stopAt, within } from "./keyboard.js";
import { reveal, watch } from "./scrolling.js";

const MARKS = { rtl: "\u200f", ltr: "\u200e" };

export default function render(given) {
  update(Chips, ".chips", given);
}

class Chips {
  constructor(root) {
    this.root = root;
    this.rows = [];
    root.addEventListener("click", (event) => this.onClick(event));
    root.addEventListener("keydown", (event) => this.onKey(event));
    root.addEventListener("focusin", (event) => this.onFocus(event));
    root.addEventListener("focusout", (event) => this.onLeave(event));
    root.addEventListener("paste", (event) => this.onPaste(event));
  }

  update({ rows, lines, flows }) {
    this.lines = lines;
    this.root.classList.toggle("flows", flows);
    const focused = this.focusedAt();
    const previous = this.rows;
    this.rows = rows.map((row, i) => this.sync(previous[i], row, i));
    for (const { element } of previous.slice(rows.length)) element.remove();
    if (focused) this.focusAt(focused);
    if (this.typedIn !== undefined) this.focusRow(this.typedIn);
    this.typedIn = undefined;
  }

  // A row whose text did not change keeps its elements, its scroll position and its focus.
  sync(before, row, index) {
    const signature = JSON.stringify([row.segments, row.name, row.role]);
    const kept = before?.signature === signature ? before : build(row, signature);
    if (kept !== before) {
      if (before) before.element.replaceWith(kept.element);
      else this.root.append(kept.element);
    }
    kept.element.dataset.row = index;
    dress(kept, row);
    kept.typed = row.text;
    const changed = kept !== before || String(kept.chosen) !== String(row.chosen);
    mark(kept, row.chosen);
    if (changed) show(kept);
    return kept;
  }

  onClick(event) {
    const word = event.target.closest(".word");
    if (word) this.pick(word);
    const pencil = event.target.closest(".edit");
    if (pencil) this.edit(this.rowOf(pencil));
  }

  edit(row) {
    if (row.field) return;
    row.field = make("input", "field");
    row.field.value = row.typed;
    row.field.dir = "auto";
    row.opened = row.field.value; // a field has no line ends, so this may not be the text itself
    row.field.ariaLabel = row.text.ariaLabel.replace("Words of", "Text of");
    row.text.before(row.field);
    row.element.classList.add("editing");
    row.field.focus();
  }

  // The field goes, and what was typed into it is the text.
  leave(row, { drop = false, back = false } = {}) {
    const { field } = row;
    if (!field) return;
    row.field = undefined; // before it goes: its going is a leaving too
    const text = field.value.toWellFormed();
    field.remove();
    row.element.classList.remove("editing");
    const index = Number(row.element.dataset.row);
    const changed = !drop && text !== row.opened;
    if (changed) {
      this.typedIn = back ? index : undefined;
      this.send({ row: index, text });
    } else if (back) this.focusRow(index);
  }

  focusRow(index) {
    const row = this.rows[index];
    const stop = row?.words.find((word) => word.tabIndex === 0) ?? row?.pencil;
    stop?.focus({ preventScroll: true });
  }

  onLeave(event) {
    const field = event.target.closest(".field");
    if (field) this.leave(this.rowOf(field));
  }

  // A field would join lines: more of them than there are sentences go to Python as they are.
  onPaste(event) {
    const field = event.target.closest(".field");
    const text = event.clipboardData.getData("text/plain").toWellFormed();
    const n = text.split("\n").filter((line) => line.trim()).length;
    if (!field || n <= this.lines) return;
    event.preventDefault();
    const row = this.rowOf(field);
    this.leave(row, { drop: true });
    this.send({ row: Number(row.element.dataset.row), text });
  }

  rowOf(element) {
    return this.rows[Number(element.closest(".row").dataset.row)];
  }

  pick(word) {
    const index = Number(word.closest(".row").dataset.row);
    const row = this.rows[index];
    const span = spanOf(word);
    // A reference's chosen word again means its whole text.
    const again = String(row.chosen) === String(span);
    if (again && (row.words.length === 1 || !row.element.classList.contains("reference"))) return;
    mark(row, span); // at once; Python's answer follows
    this.send({ row: index, start: span[0], end: span[1] });
  }

  onKey(event) {
    const field = event.target.closest(".field");
    if (field) this.onFieldKey(event, this.rowOf(field));
    const at = event.target.closest(".word, .edit");
    if (!at) return;
    const { words, text, pencil } = this.rowOf(at);
    if (event.key === "F2") this.edit(this.rowOf(at));
    const stops = [...words, pencil];
    const right = getComputedStyle(text).direction === "rtl" ? -1 : 1;
    const place = stops.indexOf(at);
    const sides = { ArrowLeft: place - right, ArrowRight: place + right };
    const to = moved(event, { ...sides, Home: 0, End: words.length - 1 });
    if (to !== undefined) within(stops, to).focus();
  }

  onFieldKey(event, row) {
    const done = event.key === "Enter" && !event.isComposing;
    if (!done && event.key !== "Escape") return;
    event.preventDefault(); // or the word that gets the focus is pressed by this key
    this.leave(row, { drop: !done, back: true });
  }

  onFocus(event) {
    const word = event.target.closest(".word");
    if (word) stopAt(this.rowOf(word).words, word);
  }

  focusedAt() {
    const word = this.root.getRootNode().activeElement?.closest?.(".word");
    if (!word || !this.root.contains(word)) return null;
    return { row: Number(word.closest(".row").dataset.row), start: word.dataset.start };
  }

  focusAt({ row, start }) {
    const word = this.rows[row]?.words.find((each) => each.dataset.start === start);
    if (!word) return;
    stopAt(this.rows[row].words, word);
    if (this.root.getRootNode().activeElement !== word) word.focus({ preventScroll: true });
  }
}

function build(row, signature) {
  const element = make("div", `row ${row.role}`);
  const badge = make("span", row.label ? "badge" : "badge bare", row.label);
  badge.setAttribute("aria-hidden", "true");
  const text = make("div", "text");
  text.dir = "auto";
  text.setAttribute("role", "toolbar");
  text.setAttribute("aria-label", `Words of ${row.name}`);
  const pieces = row.segments.map((segment) => pieceOf(segment));
  const words = pieces.filter((piece) => piece.classList.contains("word"));
  words.forEach((word, i) => {
    word.setAttribute("aria-label", `${word.textContent}, word ${i + 1} of ${row.name}`);
    word.classList.toggle("joined-before", words[i - 1]?.dataset.end === word.dataset.start);
    word.classList.toggle("joined-after", words[i + 1]?.dataset.start === word.dataset.end);
  });
  row.segments.forEach(({ dir }, i) => {
    // A button is one neutral object to the bidirectional algorithm: say which way it runs.
    const sign = MARKS[dir];
    text.append(...(sign ? [sign, pieces[i], sign] : [pieces[i]]));
  });
  if (!pieces.length) text.append(make("span", "empty", "empty"));
  const note = make("span", "note");
  note.id = `note-${Math.random().toString(36).slice(2)}`;
  text.setAttribute("aria-describedby", note.id);
  const pencil = button("edit");
  pencil.ariaLabel = `Edit ${row.name}`;
  pencil.title = `${pencil.ariaLabel} (F2)`;
  pencil.tabIndex = words.length ? -1 : 0; // the arrows come to it after the last word
  const body = make("div", "body");
  body.append(text, pencil, note);
  element.append(badge, body);
  const parts = { element, text, pencil, note, badge, pieces, words };
  const made = { ...parts, signature, chosen: null, hidden: true };
  watch(text, () => made.hidden && show(made));
  return made;
}

function pieceOf({ text, start, end, word, dir }) {
  const piece = word ? button("word", text) : make("span", "gap", text);
  if (word && dir) piece.dir = dir;
  piece.dataset.start = start;
  piece.dataset.end = end;
  return piece;
}

function dress({ element, badge, note }, row) {
  element.style.setProperty("--row", row.color);
  element.style.setProperty("--ink", row.ink);
  badge.textContent = row.label;
  note.textContent = row.note;
  note.hidden = !row.note;
  note.classList.toggle("warning", row.warning);
}

// A chosen phrase is one mark over all of its words and the gaps between them.
function mark(row, chosen) {
  row.chosen = chosen;
  const inside = row.pieces.filter((piece) => {
    const [start, end] = spanOf(piece);
    return chosen && start < chosen[1] && end > chosen[0];
  });
  const marked = inside.filter((piece) => piece.classList.contains("word"));
  for (const piece of row.pieces) {
    const on = inside.includes(piece);
    piece.classList.toggle("chosen", on);
    piece.classList.toggle("first", on && piece === marked[0]);
    piece.classList.toggle("last", on && piece === marked.at(-1));
    if (piece.classList.contains("word")) piece.setAttribute("aria-pressed", String(on));
  }
  const focused = row.text.getRootNode().activeElement;
  stopAt(row.words, row.words.includes(focused) ? focused : (marked[0] ?? row.words[0]));
}

// Brings the chosen word into sight; a row that is not on show yet waits until it is.
function show(row) {
  const { text } = row;
  row.hidden = !text.clientHeight;
  const word = text.querySelector(".word.chosen");
  if (row.hidden || !word) return;
  const line = parseFloat(getComputedStyle(text).lineHeight);
  // Whole lines: the first is level with the badge.
  reveal(text, word, (top) => Math.round(top / line) * line);
}

function spanOf(piece) {
  return [Number(piece.dataset.start), Number(piece.dataset.end)];
}
