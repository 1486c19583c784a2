// Tells once if this browser cannot draw by WebGL: a map of many points would stay empty there.

import { update } from "../../../ui/widgets/assets/component.js";

export default function render(given) {
  update(Check, ".webgl", given);
}

class Check {
  update() {
    if (this.asked) return;
    this.asked = true;
    const canvas = document.createElement("canvas");
    if (!(canvas.getContext("webgl2") ?? canvas.getContext("webgl"))) this.send("none");
  }
}
