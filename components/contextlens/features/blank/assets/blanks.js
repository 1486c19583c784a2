// Sentences with blanks, and bars for what the model expects there. A click or Enter hides a word or
// shows it; arrow keys walk. User text reaches the page through textContent and setAttribute only.

import { update } from "../../../ui/widgets/assets/component.js";
import { button, make } from "../../../ui/widgets/assets/elements.js";
import { moved, stopAt, within } from "../../../ui/widgets/assets/keyboard.js";
import { reveal, watch } from "../../../ui/widgets/assets/scrolling.js";

export default function render(given) {
  update(Blanks, ".blanks", given);
}

class Blanks {
  constructor(root) {
    this.root = root;
    root.addEventListener("click", (event) => this.onClick(event));
    root.addEventListener("keydown", (event) => this.onKey(event));
  }

  update(data) {
    const content = JSON.stringify(data);
    if (content === this.content) return;
    this.content = content;
    const active = this.root.getRootNode().activeElement;
    const focused = active && this.root.contains(active) ? active.dataset.at : null;
    this.root.style.setProperty("--n", Math.min(2, data.sentences.length));
    const old = new Map([...this.root.querySelectorAll(".panel")].map((p) => [p.dataset.at, p]));
    const panels = data.sentences.map((sentence) => panel(sentence, data));
    for (const fresh of panels) keep(old.get(fresh.dataset.at), fresh);
    this.root.replaceChildren(make("div", "hint", data.hint), ...panels);
    for (const own of panels) {
      const line = own.querySelector(".line");
      watch(line);
      const first = line.querySelector(".hidden");
      if (first) reveal(line, first);
      const words = [...line.querySelectorAll(".word")];
      stopAt(words, words.find((word) => word.dataset.at === focused) ?? first ?? words[0]);
    }
    if (focused) this.root.querySelector(`[data-at="${focused}"]`)?.focus({ preventScroll: true });
    grow(this.root);
  }

  onClick(event) {
    const word = event.target.closest(".word");
    if (!word) return;
    word.focus({ preventScroll: true });
    const [sentence, at] = word.dataset.at.split(" ").map(Number);
    this.send({ sentence, word: at });
  }

  onKey(event) {
    const word = event.target.closest(".word");
    if (!word) return;
    const words = [...word.closest(".line").querySelectorAll(".word")];
    const at = words.indexOf(word);
    const turn = getComputedStyle(word.parentElement).direction === "rtl" ? -1 : 1;
    const sides = { ArrowLeft: at - turn, ArrowRight: at + turn };
    const to = moved(event, { ...sides, Home: 0, End: words.length - 1 });
    if (to === undefined) return;
    const next = within(words, to);
    stopAt(words, next);
    next.focus();
  }
}

// The bars of the panel before are where the new ones start to grow from.
function keep(old, fresh) {
  const before = old ? [...old.querySelectorAll(".fill")] : [];
  [...fresh.querySelectorAll(".fill")].forEach((fill, i) => {
    fill.style.width = before[i]?.dataset.width ?? "0%";
  });
}

function grow(root) {
  root.getBoundingClientRect(); // so that the change of width is seen as one
  for (const fill of root.querySelectorAll(".fill")) fill.style.width = fill.dataset.width;
}

function panel(sentence, { most }) {
  const element = make("section", `panel reads-${sentence.reads}`);
  element.dataset.at = sentence.index;
  element.style.setProperty("--row", sentence.color);
  element.style.setProperty("--ink", sentence.ink);
  const top = make("div", "top");
  top.append(make("span", "badge", sentence.letter), line(sentence));
  const blocks = make("div", "blocks");
  blocks.append(...sentence.blocks.map((block) => blockOf(block, sentence, most)));
  if (!sentence.blocks.length) blocks.append(make("p", "empty", sentence.empty));
  element.append(top, blocks);
  return element;
}

function line(sentence) {
  const element = make("div", "line");
  element.setAttribute("role", "group");
  element.setAttribute("aria-label", `Words of ${sentence.letter}, to hide or show`);
  const text = make("bdi", "text");
  text.dir = "auto";
  text.append(...sentence.segments.map((segment) => piece(segment, sentence)));
  element.append(text);
  if (sentence.pair.length) {
    const pair = make("bdi", "text pair");
    pair.dir = "auto";
    pair.append(...sentence.pair.map((segment) => piece(segment, sentence)));
    element.append(pair);
  }
  return element;
}

function piece(segment, sentence) {
  const isWord = segment.word !== null;
  if (!isWord && !segment.hidden) return document.createTextNode(segment.text);
  const element = isWord ? button("word") : make("span", "blank");
  if (segment.dir) element.dir = segment.dir;
  element.classList.toggle("hidden", segment.hidden);
  element.classList.toggle("typed", segment.typed);
  const shown = make("span", "shown", segment.text);
  element.append(shown);
  if (segment.hidden && sentence.replaced && !segment.typed)
    element.append(make("span", "other", sentence.replaced));
  if (sentence.numbered && segment.blanks.length)
    element.append(make("sup", "number", numbers(segment.blanks)));
  if (isWord) {
    element.dataset.at = `${sentence.index} ${segment.word}`;
    element.setAttribute("aria-pressed", String(segment.hidden));
    const state = segment.hidden ? "a blank" : `word ${segment.word + 1}`;
    element.setAttribute("aria-label", `${segment.text}, ${state} of sentence ${sentence.letter}`);
    element.title = segment.hidden ? `${segment.text}: click to show it` : "Click to hide it";
  }
  return element;
}

function numbers(blanks) {
  return blanks.length > 1 ? `${blanks[0]}–${blanks.at(-1)}` : String(blanks[0]);
}

function blockOf(block, sentence, most) {
  const element = make("div", "block");
  if (sentence.numbered) element.append(make("h4", "title", block.title));
  const list = make("ol", "bars");
  list.setAttribute("aria-label", block.title);
  list.style.setProperty("--lines", block.lines);
  const width = Math.max(most, ...block.candidates.map((bar) => bar.share));
  list.append(...block.bars.map((bar, i) => barOf(bar, width, i && isApart(block.bars, i))));
  element.append(list);
  if (block.candidates.length) {
    const own = make("ol", "bars own");
    own.setAttribute("aria-label", `Your own words, ${block.title}`);
    own.append(...block.candidates.map((bar) => barOf(bar, width, false)));
    element.append(own);
  }
  return element;
}

// True for a token that is not the next one of the list.
function isApart(bars, i) {
  return Number(bars[i].rank.replaceAll(",", "")) !== Number(bars[i - 1].rank) + 1;
}

function barOf(bar, most, apart) {
  const element = make("li", `bar ${bar.kind}`);
  element.classList.toggle("apart", Boolean(apart));
  element.title = bar.says;
  const name = make("bdi", "name");
  if (bar.mark) name.append(make("span", "mark", bar.mark));
  name.append(bar.text);
  const track = make("span", "track");
  const fill = make("span", "fill");
  fill.dataset.width = `${Math.max(0.4, (100 * bar.share) / most)}%`;
  track.append(fill);
  element.append(make("span", "rank", bar.rank), name, track, make("span", "share", bar.percent));
  return element;
}
