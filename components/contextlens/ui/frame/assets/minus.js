// Plotly writes negative numbers in hovers with a hyphen, and Streamlit in tables, which it paints,
// aligned to the right: it becomes a real minus sign. Zero has none. A table's texts stay.

const HOVERS = ".hoverlayer";
const HYPHEN = /(^|[\s(:,])-(?=\d)/g;
const NUMBER = /^-(?=[\d,]+\.\d{4}$|\d(\.\d+)?e[+-]\d+$)/; // as tables write it
const ZERO = /^-(?=0\.0000$|0(\.0+)?e[+-]\d+$)/;

new MutationObserver((changes) => {
  for (const { target } of changes) {
    const element = target.nodeType === Node.TEXT_NODE ? target.parentElement : target;
    if (!element?.closest(HOVERS)) continue;
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode;
      if (HYPHEN.test(text.data)) text.data = text.data.replace(HYPHEN, "$1\u2212");
      HYPHEN.lastIndex = 0;
    }
  }
}).observe(document.documentElement, { childList: true, characterData: true, subtree: true });

const { prototype } = CanvasRenderingContext2D;
const { fillText } = prototype;

prototype.fillText = function (text, ...place) {
  const isNumber = this.textAlign === "right";
  const said = isNumber ? String(text).replace(ZERO, "").replace(NUMBER, "\u2212") : text;
  fillText.call(this, said, ...place);
};
