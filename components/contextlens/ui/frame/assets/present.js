// The styles of present mode hold as long as its keys are on the page.

const keys = document.getElementsByClassName("st-key-presenting");
const style = document.getElementById("present");

new MutationObserver(() => {
  const media = keys.length > 0 ? "all" : "not all";
  if (style.media !== media) style.media = media;
}).observe(document.documentElement, { childList: true, subtree: true });
