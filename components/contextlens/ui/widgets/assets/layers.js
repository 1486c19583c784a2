// Where the layer bar stands, for pictures that can be drawn at any place between two layers.

const GLIDE_MS = 300;
const EVENT = "contextlens-layer";

// Tells all pictures of the page; a `sudden` change, as each frame of Play, is drawn as it is.
export function tell(layer, sudden) {
  document.dispatchEvent(new CustomEvent(EVENT, { detail: { layer, sudden } }));
}

export function isStill() {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

// Draws `root`'s picture wherever the bar goes; between two layers it glides.
export function follow(root, draw) {
  return new Follower(root, draw);
}

class Follower {
  constructor(root, draw) {
    this.draw = draw;
    this.turn = 0;
    const hear = ({ detail }) => {
      if (!root.isConnected) document.removeEventListener(EVENT, hear);
      else if (detail.sudden) this.jump(detail.layer);
      else this.glide(detail.layer);
    };
    document.addEventListener(EVENT, hear);
  }

  // The layer of the page's latest run, which Play is ahead of.
  rest(layer) {
    if (document.body.hasAttribute("data-plays")) return;
    if (this.at === undefined) this.jump(layer);
    else this.glide(layer);
  }

  jump(layer) {
    this.turn += 1;
    this.at = layer;
    this.draw(layer);
  }

  glide(layer) {
    if (layer === this.at) this.draw(layer);
    else if (isStill()) this.jump(layer);
    else this.run(this.at, layer);
  }

  run(from, to) {
    this.turn += 1;
    const { turn } = this;
    const began = performance.now();
    const step = (now) => {
      if (turn !== this.turn) return;
      const share = Math.min(1, Math.max(0, (now - began) / GLIDE_MS));
      this.at = share === 1 ? to : from + (to - from) * (1 - (1 - share) ** 3);
      this.draw(this.at);
      if (share < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }
}
