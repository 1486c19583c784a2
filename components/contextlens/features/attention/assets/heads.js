// All heads as small pictures; a click or Enter picks one. Arrow keys walk.

import { bytes, update } from "../../../ui/widgets/assets/component.js";
import { button, make } from "../../../ui/widgets/assets/elements.js";
import { moved, stopAt } from "../../../ui/widgets/assets/keyboard.js";

const BLUE = [63, 134, 196]; // 3.9:1 on the light ground, 4.5:1 on the dark one

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
    const shape = `${data.layers} ${data.heads} ${data.cells}`;
    if (shape !== this.shape) this.build(data);
    if (shape !== this.shape || data.pictures !== this.pictures) this.paint(data);
    [this.shape, this.pictures, this.data] = [shape, data.pictures, data];
    const chosen = new Set(data.chosen.map(String));
    const best = new Set(data.best.map(String));
    this.tiles.forEach((tile, i) => {
      const at = String(where(i, data.heads));
      const said = data.values[where(i, data.heads)[0] - 1][i % data.heads];
      tile.classList.toggle("chosen", chosen.has(at));
      tile.classList.toggle("best", best.has(at));
      tile.setAttribute("aria-pressed", String(chosen.has(at)));
      tile.setAttribute("aria-label", `${title(i, data.heads)}: ${said}`);
    });
    const first = this.tiles.findIndex((tile) => tile.classList.contains("chosen"));
    stopAt(this.tiles, this.tiles[Math.max(0, first)]);
    this.bars.replaceChildren(...bars(data));
    this.tell(null);
  }

  build({ layers, heads, cells }) {
    const grid = make("div", "grid");
    grid.style.gridTemplateColumns = `1.25rem repeat(${heads}, minmax(0, 1fr))`;
    grid.setAttribute("role", "group");
    grid.setAttribute("aria-label", "Heads");
    grid.append(make("span", "number"));
    for (let head = 0; head < heads; head += 1) grid.append(make("span", "number", String(head)));
    this.tiles = [];
    for (let i = 0; i < layers * heads; i += 1) {
      if (i % heads === 0) grid.append(make("span", "number", String(i / heads + 1)));
      const tile = button("tile");
      const canvas = document.createElement("canvas");
      canvas.width = canvas.height = cells;
      tile.append(canvas);
      this.tiles.push(tile);
      grid.append(tile);
    }
    this.told = make("div", "told");
    this.bars = make("div", "bars");
    this.root.replaceChildren(grid, this.told, this.bars);
  }

  paint({ pictures, cells }) {
    const values = bytes(pictures);
    this.tiles.forEach((tile, i) => {
      const context = tile.firstChild.getContext("2d");
      const image = context.createImageData(cells, cells);
      for (let cell = 0; cell < cells * cells; cell += 1) {
        image.data.set([...BLUE, values[i * cells * cells + cell]], 4 * cell);
      }
      context.putImageData(image, 0, 0);
    });
  }

  tell(target) {
    const tile = target?.closest?.(".tile");
    this.told.textContent = tile
      ? tile.getAttribute("aria-label")
      : "Layers (steps) down, heads across; click one.";
  }

  onClick(event) {
    const i = this.tiles.indexOf(event.target.closest(".tile"));
    if (i < 0) return;
    const chosen = this.tiles[i];
    for (const tile of this.tiles) tile.classList.toggle("chosen", tile === chosen); // at once
    stopAt(this.tiles, chosen);
    const [layer, head] = where(i, this.data.heads);
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

function where(i, heads) {
  return [Math.floor(i / heads) + 1, i % heads];
}

function title(i, heads) {
  const [layer, head] = where(i, heads);
  return `Layer ${layer}, head ${head}`;
}

function bars({ bars: rows, caption }) {
  const parts = [make("span", "about", caption)];
  for (const { name, value, even, text } of rows) {
    const track = make("span", "track");
    const fill = make("span", "fill");
    fill.style.width = `${100 * Math.min(1, value)}%`;
    const mark = make("span", "even");
    mark.style.left = `${100 * Math.min(0.99, even)}%`;
    mark.title = "what attention that is spread evenly would give";
    track.append(fill, mark);
    parts.push(make("span", "name", name), track, make("span", "text", text));
  }
  return parts;
}
