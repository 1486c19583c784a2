// Plotly writes negative numbers in hovers with a hyphen: it becomes a real minus sign.

const HOVERS = ".hoverlayer";
const HYPHEN = /(^|[\s(:,])-(?=\d)/g;

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
