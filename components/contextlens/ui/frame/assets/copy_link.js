// Copies the address of the view at the click and says so. Where the browser gives no clipboard,
// as on plain http of another machine, the address is selected in a field to be copied by hand.
// An address of this computer comes with a word on that, and with the view as a file to send.

import { update } from "../../widgets/assets/component.js";

const SAID_FOR = 2000; // milliseconds
const GAP = 6; // pixels between the button and the field
const COPY = /mac|iphone|ipad/i.test(navigator.platform) ? "⌘C" : "Ctrl+C";

export default function render(given) {
  update(CopyLink, ".copy-link", given);
}

class CopyLink {
  constructor(root) {
    this.root = root;
    [this.button, this.told, this.panel, this.how, this.field, this.file] = [
      ".copy",
      ".told",
      ".by-hand",
      ".how",
      "input",
      ".file",
    ].map((part) => root.querySelector(part));
    this.button.addEventListener("click", () => this.copy());
  }

  update({ address, too_long, local }) {
    if (address !== this.address) this.say(false);
    this.address = address;
    this.tooLong = too_long;
    this.local = local;
    this.file.hidden = !local;
    if (!local) return;
    this.file.textContent = local.save;
    this.file.href = `data:application/json;charset=utf-8,${encodeURIComponent(local.file)}`;
  }

  async copy() {
    if (this.address === null) {
      this.open(this.tooLong, false);
      return;
    }
    try {
      await navigator.clipboard.writeText(this.address);
      this.say(true);
      if (this.local) this.open(this.local.copied, false);
    } catch {
      this.open(`Press ${COPY} to copy this address.`, true);
    }
  }

  say(copied) {
    clearTimeout(this.later);
    this.root.classList.toggle("copied", copied);
    this.told.textContent = copied ? "Copied" : "";
    if (copied) this.later = setTimeout(() => this.say(false), SAID_FOR);
  }

  open(words, withField) {
    this.how.textContent = words;
    this.field.hidden = !withField;
    this.field.value = this.address;
    this.panel.showPopover();
    const [under, box] = [this.button, this.panel].map((each) => each.getBoundingClientRect());
    const right = document.documentElement.clientWidth - box.width - GAP;
    this.panel.style.inset = `${under.bottom + GAP}px auto auto ${Math.min(under.left, right)}px`;
    if (withField) this.field.select();
    this.told.textContent = words;
  }
}
