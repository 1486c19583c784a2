// The words of sentences as buttons: chosen by click or by keyboard, reported as code points.
// A pencil at a row's end, F2 or two clicks make a field of its text: Enter or leaving it reports
// what was typed, Escape drops it. On a page that follows, a pause while typing reports it too.
// Python cuts the text and counts its code points; nothing here measures a string.
// User text reaches the page through textContent and setAttribute only.

import { update } from "./component.js";
import { button, make } from "./elements.js";
import { moved, stopAt, within } from "./keyboard.js";
import { reveal, watch } from "./scrolling.js";

const PAUSE = 500; // milliseconds without a key
const MARKS = { rtl: "\u200f", ltr: "\u200e" };

export default function render(given) {
  update(Chips, ".chips", given);
}

class Chips {
  constructor(root) {
    this.root = root;
    this.rows = [];
    this.tools = make("div", "tools");
    root.append(this.tools);
    root.addEventListener("click", (event) => this.onClick(event));
    root.addEventListener("dblclick", (event) => this.onDoubleClick(event));
    root.addEventListener("input", (event) => this.onInput(event));
    root.addEventListener("keydown", (event) => this.onKey(event));
    root.addEventListener("focusin", (event) => this.onFocus(event));
    root.addEventListener("focusout", (event) => this.onLeave(event));
    root.addEventListener("paste", (event) => this.onPaste(event));
  }

  update(data) {
    const { rows, lines, letters, pairs, live, plain } = data;
    Object.assign(this, { lines, pairs, live });
    this.root.classList.toggle("plain", plain);
    this.root.classList.toggle("letters", letters);
    this.letters = letters;
    this.dressTools(data);
    const focused = this.focusedAt();
    const previous = this.rows;
    this.rows = rows.map((row, i) => this.sync(previous[i], row, i));
    for (const { element } of previous.slice(rows.length)) element.remove();
    if (focused) this.focusAt(focused);
    if (this.typedIn !== undefined) this.focusRow(this.typedIn);
    this.typedIn = undefined;
  }

  // One button for each group that takes more rows; they stay as they are while one types.
  dressTools({ adds, words }) {
    const signature = adds.join();
    if (this.tools.dataset.adds === signature || this.draft) return;
    this.tools.dataset.adds = signature;
    this.tools.replaceChildren(
      ...adds.map((group) => {
        const tool = button("add", `+ ${words[group]}`);
        tool.dataset.group = group;
        return tool;
      }),
    );
  }

  // A row whose text did not change keeps its elements, its scroll position and its focus; so does
  // one that is being typed in.
  sync(before, row, index) {
    if (before?.field) {
      before.latest = row;
      return before;
    }
    const signature = JSON.stringify([row.segments, row.name, row.role]);
    const kept = before?.signature === signature ? before : build(row, signature);
    if (kept !== before) {
      if (before) before.element.replaceWith(kept.element);
      else this.tools.before(kept.element);
    }
    kept.element.dataset.row = index;
    kept.index = index;
    dress(kept, row, this.letters);
    Object.assign(kept, { typed: row.text, pair: row.pair, role: row.role });
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
    const empty = event.target.closest(".empty");
    if (empty) this.edit(this.rowOf(empty));
    const letter = event.target.closest("button.badge");
    if (letter) this.send({ row: this.rowOf(letter).index, show: true });
    const remove = event.target.closest(".remove");
    if (remove) this.remove(this.rowOf(remove));
    const tool = event.target.closest(".add");
    if (tool) this.write(tool.dataset.group);
  }

  onDoubleClick(event) {
    const text = event.target.closest(".text");
    if (text && !this.root.classList.contains("plain")) this.edit(this.rowOf(text));
  }

  edit(row) {
    if (row.field) return;
    row.field = fieldOf(row.typed, row.text.ariaLabel.replace("Words of", "Text of"));
    row.opened = row.field.value; // a field has no line ends, so this may not be the text itself
    row.sent = row.opened;
    const fields = [row.field];
    if (this.pairs && !row.element.classList.contains("reference")) {
      row.second = fieldOf(row.pair, row.text.ariaLabel.replace("Words of", "Second text of"));
      row.second.placeholder = "Second text, if any";
      row.openedPair = row.second.value;
      fields.push(row.second);
    }
    if (this.rows.filter((other) => other.role === row.role).length > 1 || row.role !== "sentence")
      fields.push(removal(row));
    row.fields = fields;
    row.text.before(...fields);
    row.element.classList.add("editing");
    row.field.focus();
  }

  // The fields go, and what was typed into them is the text.
  leave(row, { drop = false, back = false } = {}) {
    const { field, second, index, latest } = row;
    if (!field) return;
    clearTimeout(row.pause);
    row.field = row.second = row.latest = undefined; // before they go: their going is a leaving too
    const text = drop ? row.opened : field.value.toWellFormed();
    const pair = drop ? row.openedPair : second?.value.toWellFormed();
    for (const each of row.fields) each.remove();
    row.element.classList.remove("editing");
    if (latest) this.rows[index] = this.sync(row, latest, index);
    const changed = text !== row.sent || pair !== (second && row.openedPair);
    if (changed) {
      this.typedIn = back ? index : undefined;
      this.send(second ? { row: index, text, pair } : { row: index, text });
    } else if (back) this.focusRow(index);
  }

  remove(row) {
    this.leave(row, { drop: true });
    this.send({ row: row.index, remove: true });
  }

  onInput(event) {
    const row = this.live && this.rows.find(({ field }) => field && field === event.target);
    if (!row) return;
    clearTimeout(row.pause);
    row.pause = setTimeout(() => {
      const text = row.field?.value.toWellFormed();
      if (text === undefined || text === row.sent) return;
      row.sent = text;
      this.send({ row: row.index, text });
    }, PAUSE);
  }

  // A field for a new row, which exists once something is typed.
  write(group) {
    if (this.draft) return;
    this.draft = fieldOf("", `New ${group === "sentences" ? "sentence" : "reference"}`);
    this.draft.dataset.group = group;
    this.draft.classList.add("draft");
    this.draft.placeholder = group === "sentences" ? "Type a sentence" : "A word or a phrase";
    this.tools.before(this.draft);
    this.draft.focus();
  }

  leaveDraft({ drop = false, text = this.draft.value.toWellFormed() } = {}) {
    const { draft } = this;
    this.draft = undefined; // before it goes: its going is a leaving too
    draft.remove();
    if (!drop && text.trim()) this.send({ add: draft.dataset.group, text });
  }

  focusRow(index) {
    const row = this.rows[index];
    const stop = row?.words.find((word) => word.tabIndex === 0) ?? row?.pencil;
    stop?.focus({ preventScroll: true });
  }

  onLeave(event) {
    if (event.target === this.draft) this.leaveDraft();
    const at = event.target.closest(".field:not(.draft), .remove");
    const row = at && this.rowOf(at);
    if (row && !row.element.contains(event.relatedTarget)) this.leave(row);
  }

  // A field would join lines: more of them than there are sentences go to Python as they are.
  onPaste(event) {
    const field = event.target.closest(".field");
    const text = event.clipboardData.getData("text/plain").toWellFormed();
    const n = text.split("\n").filter((line) => line.trim()).length;
    if (!field || n <= this.lines) return;
    event.preventDefault();
    if (field === this.draft) {
      this.leaveDraft({ text });
      return;
    }
    const row = this.rowOf(field);
    this.leave(row, { drop: true });
    this.send({ row: row.index, text });
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
    if (field) this.onFieldKey(event, field);
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

  onFieldKey(event, field) {
    const done = event.key === "Enter" && !event.isComposing;
    if (!done && event.key !== "Escape") return;
    event.preventDefault(); // or the word that gets the focus is pressed by this key
    if (field === this.draft) this.leaveDraft({ drop: !done });
    else this.leave(this.rowOf(field), { drop: !done, back: true });
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

function fieldOf(value, name) {
  const field = make("input", "field");
  field.value = value;
  field.dir = "auto";
  field.ariaLabel = name;
  return field;
}

// Pressing it takes no focus from the field, whose leaving would be an edit.
function removal(row) {
  const remove = button("remove", "×");
  remove.ariaLabel = row.text.ariaLabel.replace("Words of", "Remove");
  remove.title = remove.ariaLabel;
  remove.addEventListener("pointerdown", (event) => event.preventDefault());
  return remove;
}

function build(row, signature) {
  const element = make("div", `row ${row.role}`);
  const badge = make("span", "badge");
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
  if (!pieces.length) text.append(make("span", "empty", "Type a sentence"));
  const note = make("span", "note");
  note.id = `note-${Math.random().toString(36).slice(2)}`;
  text.setAttribute("aria-describedby", note.id);
  const pencil = button("edit");
  pencil.ariaLabel = `Edit ${row.name}`;
  pencil.title = `${pencil.ariaLabel} (F2)`;
  pencil.tabIndex = words.length ? -1 : 0; // the arrows come to it after the last word
  const second = make("span", "pair");
  second.dir = "auto";
  const body = make("div", "body");
  body.append(text, second, pencil, note);
  element.append(badge, body);
  const parts = { element, text, pairing: second, pencil, note, badge, pieces, words };
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

function dress(kept, row, letters) {
  const { element, note, pairing } = kept;
  element.style.setProperty("--row", row.color);
  element.style.setProperty("--ink", row.ink);
  const asButton = letters && row.role === "sentence";
  if ((kept.badge.tagName === "BUTTON") !== asButton) {
    const badge = asButton ? button("badge") : make("span", "badge");
    kept.badge.replaceWith(badge);
    kept.badge = badge;
  }
  kept.badge.textContent = row.label;
  kept.badge.className = row.label ? "badge" : "badge bare";
  kept.badge.classList.toggle("shown", row.shown);
  if (asButton) {
    kept.badge.ariaLabel = `Show ${row.name}`;
    kept.badge.setAttribute("aria-pressed", String(row.shown));
  } else kept.badge.setAttribute("aria-hidden", "true");
  pairing.textContent = row.pair;
  pairing.hidden = !row.pair;
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
