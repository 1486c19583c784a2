// All heads as shades, and the strongest ones as a list; a click or Enter picks one. Arrow keys walk.

import { update } from "../../../ui/widgets/assets/component.js";
import { button, make } from "../../../ui/widgets/assets/elements.js";
import { moved, stopAt } from "../../../ui/widgets/assets/keyboard.js";

export default function render(given) {
  update(Heads, ".heads", given);
}

class Heads {
  constructor(root) {
    this.root = root;
    root.addEventListener("pointerover", (event) => this.tell(event.target));
    root.addEventListener("pointerleave", () => this.tell(null));
    root.addEventListener("focusin", (event) => this.tell(event.target));
    root.addEventListener("focusout", () => this.tell(null));
    root.addEventListener("click", (event) => this.onClick(event));
    root.addEventListener("keydown", (event) => this.onKey(event));
  }

  update(data) {
    const shape = `${data.layers} ${data.heads}`;
    if (shape !== this.shape) this.build(data);
    [this.shape, this.data] = [shape, data];
    const chosen = new Set(data.chosen.map(String));
    this.tiles.forEach((tile, i) => {
      const [layer, head] = where(i, data.heads);
      tile.style.setProperty("--shade", data.shades[layer - 1][head]);
      ring(tile, chosen.has(String([layer, head])));
      tile.setAttribute("aria-label", `${title(layer, head)}: ${data.values[layer - 1][head]}`);
    });
    const first = this.tiles.findIndex((tile) => tile.classList.contains("chosen"));
    stopAt(this.tiles, this.tiles[Math.max(0, first)]);
    const active = this.root.getRootNode().activeElement;
    const focused = this.list.contains(active) ? active.dataset.head : null;
    this.list.replaceChildren(
      ...data.listed.map(({ layer, head, text }) => {
        const item = button("item");
        item.dataset.head = `${layer} ${head}`;
        item.append(make("span", "", title(layer, head)), " ", make("b", "", text));
        ring(item, chosen.has(String([layer, head])));
        return item;
      }),
    );
    this.tell(null);
    if (focused)
      this.root.querySelector(`.item[data-head="${focused}"]`)?.focus({ preventScroll: true });
  }

  build({ layers, heads }) {
    const grid = make("div", "grid");
    grid.style.gridTemplateColumns = `1.25rem repeat(${heads}, minmax(0, 1fr))`;
    grid.setAttribute("role", "group");
    grid.setAttribute("aria-label", "Heads");
    grid.append(make("span", "number"));
    for (let head = 1; head <= heads; head += 1) grid.append(make("span", "number", String(head)));
    this.tiles = [];
    for (let i = 0; i < layers * heads; i += 1) {
      const [layer, head] = where(i, heads);
      if (head === 0) grid.append(make("span", "number", String(layer)));
      const tile = button("tile");
      tile.dataset.head = `${layer} ${head}`;
      this.tiles.push(tile);
      grid.append(tile);
    }
    this.told = make("div", "told");
    this.list = make("div", "list");
    this.root.replaceChildren(grid, this.told, this.list);
  }

  tell(target) {
    const tile = target?.closest?.(".tile");
    this.told.textContent = tile ? tile.getAttribute("aria-label") : this.data.caption;
  }

  onClick(event) {
    const chosen = event.target.closest(".tile, .item");
    if (!chosen) return;
    const name = chosen.dataset.head;
    for (const other of [...this.tiles, ...this.list.children])
      ring(other, other.dataset.head === name);
    if (chosen.classList.contains("tile")) stopAt(this.tiles, chosen);
    const [layer, head] = name.split(" ").map(Number);
    this.send({ layer, head });
  }

  onKey(event) {
    const i = this.tiles.indexOf(event.target.closest(".tile"));
    if (i < 0) return;
    const across = this.data.heads;
    const sides = { ArrowLeft: i - 1, ArrowRight: i + 1 };
    const next = this.tiles[moved(event, { ...sides, ArrowUp: i - across, ArrowDown: i + across })];
    if (!next) return;
    stopAt(this.tiles, next);
    next.focus();
  }
}

function ring(tile, chosen) {
  tile.classList.toggle("chosen", chosen);
  tile.setAttribute("aria-pressed", String(chosen));
}

// The layer, from 1, and the head, from 0.
function where(i, heads) {
  return [Math.floor(i / heads) + 1, i % heads];
}

function title(layer, head) {
  return `Layer ${layer}, head ${head + 1}`;
}
