// The keys of present mode: each clicks what stands in its header.

import { update } from "../../widgets/assets/component.js";

const CLICKED = {
  ArrowLeft: "before a",
  ArrowRight: "after a",
  n: "note button",
  Escape: "leave button",
};
const OPEN = '[data-testid="stPopoverBody"], [role="listbox"], [role="menu"]';

export default function render(given) {
  update(Keys, ".keys", given);
}

class Keys {
  constructor(root) {
    this.root = root;
    // Before all others, as what Escape closes is gone when they have heard of it.
    document.addEventListener("keydown", this, { capture: true });
  }

  update() {}

  handleEvent(event) {
    if (!this.root.isConnected) {
      document.removeEventListener("keydown", this, { capture: true });
      return;
    }
    const clicked = CLICKED[event.key];
    if (!clicked || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" ? document.querySelector(OPEN) : !isFree()) return;
    const target = document.querySelector(`.st-key-present_${clicked}`);
    if (!target) return; // the first page has none before it, the last one none after it
    event.preventDefault();
    target.click();
  }
}

// True if nothing has the focus that has a use of its own for the keys: a field, slider or picture.
function isFree() {
  const { activeElement: at, body } = document;
  const places = '.st-key-present_header, [data-testid="stPopoverBody"]';
  return !at || at === body || at.matches(".stMain") || Boolean(at.closest(places));
}
