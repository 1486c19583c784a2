// Examples that ask before they show: a guess, or "show me", opens the example and its answer.
// One question is open at a time; the page keeps which were answered.

import { update } from "../../../ui/widgets/assets/component.js";
import { button, make } from "../../../ui/widgets/assets/elements.js";

const SIGNS = { right: "✓", fooled: "✗" };

export default function render(given) {
  update(Cards, ".guesses", given);
}

class Cards {
  constructor(root) {
    this.root = root;
    root.addEventListener("click", (event) => this.click(event));
  }

  update(data) {
    const content = JSON.stringify(data);
    if (content === this.content) return;
    const focused = this.root.contains(this.root.getRootNode().activeElement);
    this.content = content;
    this.data = data;
    const asking = data.cards.filter((card) => card.question);
    if (!asking.some((card) => card.key === this.open)) this.open = asking[0]?.key;
    this.build();
    if (focused) this.root.querySelector(".current .title")?.focus({ preventScroll: true });
  }

  build() {
    const heading = make("div", "heading", this.data.title);
    heading.setAttribute("role", "heading");
    heading.ariaLevel = 2;
    heading.setAttribute("aria-live", "polite");
    this.root.replaceChildren(heading, ...this.data.cards.map((card) => this.card(card)));
  }

  card(card) {
    const element = make("div", "card");
    element.dataset.key = card.key;
    element.classList.toggle("current", card.current);
    element.classList.toggle("own", !card.key);
    element.append(this.title(card));
    if (card.question && card.key === this.open) element.append(...this.asking(card));
    if (card.says) element.append(make("div", "says", card.says));
    return element;
  }

  title(card) {
    const title = card.key ? button("title") : make("div", "title");
    title.append(make("span", "text", card.title));
    if (card.verdict) {
      const sign = SIGNS[card.sign] ?? "";
      title.append(make("span", `verdict ${card.sign}`, `${sign} ${card.verdict}`.trim()));
    }
    if (card.question) title.ariaExpanded = String(card.key === this.open);
    if (card.current) title.setAttribute("aria-current", "true");
    return title;
  }

  asking({ question, options }) {
    const answers = make("div", "options");
    options.forEach((text, i) => {
      const option = button("option", text);
      option.dataset.option = i;
      answers.append(option);
    });
    answers.append(button("show", this.data.show));
    return [make("div", "question", question), answers];
  }

  click(event) {
    const pressed = event.target.closest("button");
    if (!pressed) return;
    const { key } = pressed.closest(".card").dataset;
    const card = this.data.cards.find((each) => each.key === key);
    if (pressed.classList.contains("title") && card.question) {
      this.open = this.open === key ? undefined : key;
      this.build();
      this.root.querySelector(`[data-key="${CSS.escape(key)}"] .title`).focus();
      return;
    }
    const { option } = pressed.dataset;
    this.send({ key, option: option === undefined ? null : Number(option) });
    const headline = document.querySelector(".st-key-headline");
    if (headline?.getBoundingClientRect().top < 0) headline.scrollIntoView();
  }
}
