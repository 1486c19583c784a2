// Examples as cards: a click reports the example's key, and the page shows that example.

import { update } from "../../../ui/widgets/assets/component.js";
import { button, make, set } from "../../../ui/widgets/assets/elements.js";

const PICTURE = { width: 96, height: 44 };

export default function render(given) {
  update(Gallery, ".gallery", given);
}

class Gallery {
  constructor(root) {
    this.root = root;
    root.addEventListener("click", (event) => this.pick(event));
  }

  // The elements stay at each rerun, and so does the focus.
  update({ cards }) {
    const signature = JSON.stringify(cards.map(({ key, download }) => [key, download]));
    if (signature !== this.signature) this.root.replaceChildren(...cards.map(cardOf));
    this.signature = signature;
    cards.forEach((card, i) => {
      dress(this.root.children[i], card);
    });
  }

  pick(event) {
    const chosen = event.target.closest("button");
    if (!chosen) return;
    this.send(chosen.closest(".card").dataset.key);
    const headline = document.querySelector(".st-key-headline");
    if (headline?.getBoundingClientRect().top < 0) headline.scrollIntoView();
  }
}

function cardOf({ key, title, question, download }) {
  const card = download ? make("div", "card") : button("card");
  card.dataset.key = key;
  const words = make("span", "words");
  words.append(make("span", "title", title), make("span", "question", question));
  if (download) words.append(button("get", download));
  const picture = make("img", "picture");
  set(picture, PICTURE);
  card.append(picture, words);
  return card;
}

function dress(card, { picture, alt, current }) {
  const image = card.querySelector(".picture");
  image.hidden = !picture;
  if (picture && image.getAttribute("src") !== picture) image.src = picture;
  image.alt = alt;
  if (current) card.setAttribute("aria-current", "true");
  else card.removeAttribute("aria-current");
}
