// Occurrences in their contexts, the word aligned; a click, Enter or Space picks one. Arrow keys walk.
// User text reaches the page through textContent and setAttribute only.

import { update } from "../../../ui/widgets/assets/component.js";
import { make } from "../../../ui/widgets/assets/elements.js";
import { moved, stopAt, within } from "../../../ui/widgets/assets/keyboard.js";

export default function render(given) {
  update(Concordance, ".concordance", given);
}

class Concordance {
  constructor(root) {
    this.root = root;
    this.lines = [];
    root.setAttribute("role", "listbox");
    root.addEventListener("click", (event) => this.pick(event.target.closest(".line")));
    root.addEventListener("keydown", (event) => this.onKey(event));
  }

  update(data) {
    const focused = this.lines.indexOf(this.root.getRootNode().activeElement);
    this.root.setAttribute("aria-label", data.name);
    this.root.classList.toggle("compared", Boolean(data.cosineTo));
    this.lines = data.lines.map((line) => lineOf(line, data));
    this.root.replaceChildren(head(data), ...this.lines);
    const chosen = this.lines.find((line) => line.ariaSelected === "true");
    const stop = this.lines[focused] ?? chosen ?? this.lines[0];
    stopAt(this.lines, stop);
    if (focused >= 0 && stop) stop.focus({ preventScroll: true });
  }

  pick(line) {
    if (!line) return;
    for (const each of this.lines) each.ariaSelected = "false"; // at once; the answer follows
    line.ariaSelected = "true";
    this.send(Number(line.dataset.row));
  }

  onKey(event) {
    const at = this.lines.indexOf(event.target.closest(".line"));
    if (at < 0) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.pick(this.lines[at]);
      return;
    }
    const last = this.lines.length - 1;
    const to = moved(event, { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: last });
    if (to === undefined) return;
    const next = within(this.lines, to);
    stopAt(this.lines, next);
    next.focus();
  }
}

function head({ markedBy, cosineTo }) {
  const row = make("div", "head");
  row.setAttribute("aria-hidden", "true");
  const titles = ["", "before", "", "after", markedBy, ...(cosineTo ? [cosineTo] : [])];
  const kinds = ["number", "left", "keyword", "right", "mark", "cosine"];
  row.append(...titles.map((title, i) => make("span", kinds[i], title)));
  return row;
}

function lineOf(line, { chosen, cosineTo, random }) {
  const element = make("div", "line");
  element.dataset.row = line.row;
  element.dir = line.dir;
  element.setAttribute("role", "option");
  element.ariaSelected = String(line.row === chosen);
  element.style.setProperty("--own", line.color);
  const left = make("span", "left");
  left.append(make("bdi", "", line.left.trimEnd())); // cut at its beginning, and still read forwards
  left.firstChild.dir = line.dir;
  const mark = make("span", "mark");
  mark.append(make("span", "dot"), make("span", "named", line.mark));
  mark.title = line.mark;
  element.append(
    make("span", "number", line.number),
    left,
    make("span", "keyword", line.keyword),
    make("span", "right", line.right.trimStart()),
    mark,
  );
  if (cosineTo) element.append(bar(line.cosine, random));
  return element;
}

// The cosine as a number over a bar from 0 to 1, where random pairs have a tick.
function bar(cosine, random) {
  const cell = make("span", "cosine");
  if (cosine === null) return cell;
  const track = make("span", "track");
  track.style.setProperty("--share", Math.max(0, cosine));
  if (random !== null) {
    const tick = make("span", "tick");
    tick.style.insetInlineStart = `${100 * Math.max(0, random)}%`;
    track.append(tick);
  }
  cell.append(make("span", "value", cosine.toFixed(4)), track);
  return cell;
}
