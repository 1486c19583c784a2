// The address of the view in a field, and its QR code, which a click shows as large as the screen.

import { update } from "../../widgets/assets/component.js";

export default function render(given) {
  update(Address, ".address", given);
}

class Address {
  constructor(root) {
    this.field = root.querySelector("input");
    this.small = root.querySelector(".small");
    this.large = root.querySelector(".large");
    this.pictures = root.querySelectorAll("img");
    this.field.addEventListener("focus", () => this.field.select());
    this.small.addEventListener("click", () => this.large.showPopover());
    this.large.addEventListener("click", () => this.large.hidePopover());
  }

  update({ address, drawn, qr }) {
    this.field.value = address;
    this.small.hidden = !drawn;
    if (qr) for (const picture of this.pictures) picture.src = qr;
    this.small.disabled = !qr;
  }
}
