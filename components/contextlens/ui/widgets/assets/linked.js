// What pictures of two rows of items with lines between them have in common: pointing at an item
// shows its lines, a click or Enter keeps them, arrow keys go from item to item.

import { moved, stopAt, within } from "./keyboard.js";

// Subclasses have `items(side)` (of one row, or of both without a side), `show(place)`, and an `area`
// that scrolls; `across` names the rows by the keys that lead to them.
export class Linked {
  constructor(root, selector, across) {
    this.root = root;
    this.selector = selector;
    this.across = across;
    const along = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"].filter((key) => !across[key]);
    [this.back, this.forth] = along;
    this.keyed = false; // a key moved last, not the pointer
    root.addEventListener("pointerover", (event) => this.keyed || this.point(event.target));
    root.addEventListener("pointermove", (event) => {
      if (this.keyed) this.point(event.target);
      this.keyed = false;
    });
    root.addEventListener("pointerleave", () => this.keyed || this.show(this.picked));
    root.addEventListener("focusin", (event) => this.point(event.target));
    root.addEventListener("focusout", () => {
      this.keyed = false;
      this.show(this.picked);
    });
    root.addEventListener("click", (event) => this.onClick(event));
    root.addEventListener("keydown", (event) => this.onKey(event));
  }

  point(target) {
    const item = target?.closest?.(this.selector);
    if (item) this.show(placeOf(item));
  }

  // What is picked after a click on an item; undefined if nothing can be picked.
  pick(place) {
    return place;
  }

  onClick(event) {
    const item = event.target.closest(this.selector);
    const picked = item && this.pick(placeOf(item));
    if (!item || picked === undefined) return;
    this.picked = picked; // at once; Python's answer follows
    this.tabStop(item);
    this.show(picked);
    this.send({ side: item.dataset.side, position: Number(item.dataset.position) });
  }

  tabStop(item) {
    stopAt(this.items(), item);
  }

  onKey(event) {
    const item = event.target.closest(this.selector);
    if (!item) return;
    const { side, index } = placeOf(item);
    const items = this.items(this.across[event.key] ?? side);
    const to = moved(event, {
      ...Object.fromEntries(Object.keys(this.across).map((key) => [key, index])),
      [this.back]: index - 1,
      [this.forth]: index + 1,
      Home: 0,
      End: items.length - 1,
    });
    if (to === undefined) return;
    const next = within(items, to);
    this.tabStop(next);
    next.focus({ preventScroll: true });
    this.keyed = true; // what scrolls under a resting pointer is not pointed at
    const [area, box] = [this.area.getBoundingClientRect(), next.getBoundingClientRect()];
    if (box.top < area.top) this.area.scrollTop -= area.top - box.top;
    if (box.bottom > area.bottom) this.area.scrollTop += box.bottom - area.bottom;
  }
}

export function placeOf(item) {
  return { side: item.dataset.side, index: Number(item.dataset.index) };
}

export function same(one, other) {
  return !!one && !!other && one.side === other.side && one.index === other.index;
}
