// The words of sentences as buttons: chosen by click or by keyboard, reported as code points.
// Python cuts the text and counts its code points; nothing here measures a string.
// User text reaches the page through textContent and setAttribute only.

const MARKS = { rtl: "\u200f", ltr: "\u200e" };
const instances = new WeakMap();

export default function render({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".chips");
  const chips = instances.get(root) ?? new Chips(root);
  instances.set(root, chips);
  chips.send = (pick) => setTriggerValue("picked", pick);
  chips.update(data.rows);
}

class Chips {
  constructor(root) {
    this.root = root;
    this.rows = [];
    root.addEventListener("click", (event) => this.onClick(event));
    root.addEventListener("keydown", (event) => this.onKey(event));
    root.addEventListener("focusin", (event) => this.onFocus(event));
  }

  update(rows) {
    const focused = this.focusedAt();
    const previous = this.rows;
    this.rows = rows.map((row, i) => this.sync(previous[i], row, i));
    for (const { element } of previous.slice(rows.length)) element.remove();
    if (focused) this.focusAt(focused);
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
    const moved = kept !== before || String(kept.chosen) !== String(row.chosen);
    mark(kept, row.chosen);
    if (moved) reveal(kept);
    return kept;
  }

  onClick(event) {
    const word = event.target.closest(".word");
    if (word) this.pick(word);
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
    const word = event.target.closest(".word");
    if (!word || event.ctrlKey || event.metaKey || event.altKey) return;
    const { words, text } = this.rows[Number(word.closest(".row").dataset.row)];
    const forward = getComputedStyle(text).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
    const at = words.indexOf(word);
    const last = words.length - 1;
    let to;
    if (event.key === "Home") to = 0;
    else if (event.key === "End") to = last;
    else if (event.key === forward) to = Math.min(at + 1, last);
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") to = Math.max(at - 1, 0);
    else return;
    event.preventDefault();
    words[to].focus();
  }

  onFocus(event) {
    const word = event.target.closest(".word");
    if (word) stopAt(this.rows[Number(word.closest(".row").dataset.row)], word);
  }

  focusedAt() {
    const word = this.root.getRootNode().activeElement?.closest?.(".word");
    if (!word || !this.root.contains(word)) return null;
    return { row: Number(word.closest(".row").dataset.row), start: word.dataset.start };
  }

  focusAt({ row, start }) {
    const word = this.rows[row]?.words.find((each) => each.dataset.start === start);
    if (!word) return;
    stopAt(this.rows[row], word);
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
  const body = make("div", "body");
  body.append(text, note);
  element.append(badge, body);
  const made = { signature, element, text, note, badge, pieces, words, chosen: null, hidden: true };
  watch(made);
  return made;
}

function pieceOf({ text, start, end, word, dir }) {
  const piece = make(word ? "button" : "span", word ? "word" : "gap", text);
  if (word) piece.type = "button";
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
  stopAt(row, row.words.includes(focused) ? focused : (marked[0] ?? row.words[0]));
}

function stopAt(row, stop) {
  for (const word of row.words) word.tabIndex = word === stop ? 0 : -1;
}

// Scrolls the row's own area, never the page; a row that is not on show yet waits until it is.
function reveal(row) {
  const { text } = row;
  row.hidden = !text.clientHeight;
  const word = text.querySelector(".word.chosen");
  if (row.hidden || !word) return;
  const area = text.getBoundingClientRect();
  const box = word.getBoundingClientRect();
  if (box.top >= area.top && box.bottom <= area.bottom) return;
  const top = text.scrollTop + box.top - area.top - (area.height - box.height) / 2;
  const line = parseFloat(getComputedStyle(text).lineHeight);
  text.scrollTop = Math.round(top / line) * line; // whole lines: the first is level with the badge
}

function watch(row) {
  const { text } = row;
  const fade = () => {
    const below = text.scrollHeight - text.clientHeight - text.scrollTop;
    text.classList.toggle("more", below > 4);
  };
  text.addEventListener("scroll", fade, { passive: true });
  new ResizeObserver(() => {
    if (row.hidden) reveal(row);
    fade();
  }).observe(text);
}

function spanOf(piece) {
  return [Number(piece.dataset.start), Number(piece.dataset.end)];
}

function make(tag, className, text = "") {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  return element;
}
