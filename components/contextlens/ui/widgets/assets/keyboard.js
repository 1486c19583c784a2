// One stop for the Tab key among many elements; other keys walk between them.

export function stopAt(elements, stop) {
  for (const each of elements) each.tabIndex = each === stop ? 0 : -1;
}

// What `moves` has for the key; undefined for other keys, which the browser and the page keep.
export function moved(event, moves) {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
  const to = moves[event.key];
  if (to !== undefined) event.preventDefault();
  return to;
}

// The element at an index, or the first or last one where the index is beyond them.
export function within(elements, index) {
  return elements[Math.max(0, Math.min(elements.length - 1, index))];
}
