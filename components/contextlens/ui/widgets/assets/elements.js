// Elements of the page. Text reaches it through textContent and setAttribute only.

const SVG = "http://www.w3.org/2000/svg";

export function make(tag, className, text = "") {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  return element;
}

export function button(className, text = "") {
  const element = make("button", className, text);
  element.type = "button";
  return element;
}

export function shape(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  set(element, attributes);
  return element;
}

export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}
