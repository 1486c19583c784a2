// Groups as cards: a click on a card's head selects the group, on an example that occurrence.
// User text reaches the page through textContent and setAttribute only.

import { update } from "../../../ui/widgets/assets/component.js";
import { button, make } from "../../../ui/widgets/assets/elements.js";

export default function render(given) {
  update(Groups, ".groups", given);
}

class Groups {
  constructor(root) {
    this.root = root;
    root.addEventListener("click", (event) => this.onClick(event));
  }

  update({ cards, chosen, row }) {
    const signature = JSON.stringify(cards);
    if (signature !== this.signature)
      this.root.replaceChildren(...cards.map((card) => cardOf(card)));
    this.signature = signature;
    for (const head of this.root.querySelectorAll(".head")) {
      const on = head.dataset.key === chosen;
      head.setAttribute("aria-pressed", String(on));
      head.closest(".card").classList.toggle("chosen", on);
    }
    for (const example of this.root.querySelectorAll(".example")) {
      example.setAttribute("aria-pressed", String(Number(example.dataset.row) === row));
    }
  }

  onClick(event) {
    const head = event.target.closest(".head");
    const example = event.target.closest(".example");
    if (head) this.send({ group: head.dataset.key });
    else if (example) this.send({ row: Number(example.dataset.row) });
  }
}

function cardOf(card) {
  const element = make("section", "card");
  const head = button("head");
  head.dataset.key = card.key;
  const title = make("span", "title", card.title);
  const many = card.n.toLocaleString("en-US");
  title.append(make("span", "n", card.n === 1 ? "1 occurrence" : `${many} occurrences`));
  head.append(title, bar(card));
  if (card.words) head.append(make("span", "words", card.words));
  element.append(head, ...card.examples.map(exampleOf));
  return element;
}

function bar({ parts, madeOf }) {
  const whole = make("span", "made");
  const strip = make("span", "strip");
  for (const part of parts) {
    const piece = make("span", "piece");
    piece.style.flexGrow = part.n;
    piece.style.background = part.color;
    strip.append(piece);
  }
  whole.append(strip);
  if (madeOf) whole.append(make("span", "parts", madeOf));
  return whole;
}

function exampleOf({ row, left, keyword, right }) {
  const example = button("example");
  example.dataset.row = row;
  example.dir = "auto";
  example.append(left, make("b", "", keyword), right);
  return example;
}
