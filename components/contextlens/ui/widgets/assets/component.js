// What the components of a page share in meeting Streamlit, which calls `render` when
// the data changed.

const instances = new WeakMap();

// Gives the data to the one `Kind` of the element that `selector` finds: made at its first call.
export function update(Kind, selector, { parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(selector);
  const instance = instances.get(root) ?? new Kind(root);
  instances.set(root, instance);
  instance.send = (pick) => setTriggerValue("picked", pick);
  instance.update(data);
}

// Numbers that Python sent as base64: whole ones from 0 to 255, one byte each.
export function bytes(text) {
  return Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
}

// The same for float32.
export function floats(text) {
  return new Float32Array(bytes(text).buffer);
}
