// Areas that scroll on their own: the page itself never moves.

// Keeps the class "more" on an area while there is more below; `resized` hears of its new sizes.
export function watch(area, resized = () => {}) {
  const fade = () => {
    const below = area.scrollHeight - area.clientHeight - area.scrollTop;
    area.classList.toggle("more", below > 4);
  };
  area.addEventListener("scroll", fade, { passive: true });
  new ResizeObserver(() => {
    resized();
    fade();
  }).observe(area);
}

// Brings an element to the middle of its area, unless all of it is in sight there already.
export function reveal(area, element, rounded = (top) => top) {
  const [outer, box] = [area.getBoundingClientRect(), element.getBoundingClientRect()];
  if (box.top >= outer.top && box.bottom <= outer.bottom) return;
  const top = area.scrollTop + box.top - outer.top - (outer.height - box.height) / 2;
  area.scrollTop = rounded(top);
}
