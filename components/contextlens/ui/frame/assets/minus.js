// Plotly writes negative numbers in hovers with a hyphen, and Streamlit in tables, which it paints:
// it becomes a real minus sign. Zero has none.

const HOVERS = ".hoverlayer";
const HYPHEN = /(^|[\s(:,])-(?=\d)/g;
const NUMBER = /^-(?=[\d,]+\.\d{4}$|\d(\.\d+)?e[+-]\d+$)/; // as tables write it; texts stay
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
  fillText.call(this, String(text).replace(ZERO, "").replace(NUMBER, "\u2212"), ...place);
};
