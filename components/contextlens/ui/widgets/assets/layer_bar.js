// The layer bar: a slider, and Play, which shows all layers one after another and comes back.
// A chart with frames, or a picture that follows the bar, is moved here, without the server; else
// each layer is a run of the page. The slider's value is the layer's index: some may be left out.

import { update } from "./component.js";
import { button } from "./elements.js";
import { isStill, tell } from "./layers.js";

const STEP_MS = 900;
const GLIDE_MS = 650; // from one layer to the next, where a picture follows
const GLIDE_MOST_MS = 5_000;
const REST_MS = 150; // after the last of quick steps by keyboard
const LATEST_MS = 30_000; // a run that takes longer ends Play
const MAX_TICKS = 13;

export default function render(given) {
  update(LayerBar, ".layer-bar", given);
}

class LayerBar {
  constructor(root) {
    this.root = root;
    this.slider = root.querySelector("input");
    this.play = root.querySelector(".play");
    this.ticks = root.querySelector(".ticks");
    this.turn = 0; // counts what was begun, so that what it replaced knows that it is over
    this.slider.addEventListener("input", () => this.move());
    this.slider.addEventListener("change", () => this.settle());
    this.play.addEventListener("click", () => (this.playing ? this.pause() : this.start()));
    this.ticks.addEventListener("click", (event) => this.jump(event));
  }

  get at() {
    return this.layers[Math.round(Number(this.slider.value))];
  }

  update({ layers, layer, framed, followed, plays, about, start }) {
    this.layers = layers;
    this.layer = layer;
    this.framed = framed;
    this.followed = followed;
    this.slider.max = layers.length - 1;
    this.root.querySelector(".name").title = about;
    this.play.hidden = !plays;
    this.label();
    this.mark();
    if (this.wanted === layer) this.wanted = undefined;
    if (this.wanted === undefined && !this.playing) this.rest(layer);
    this.arrived?.(layer);
    if (start && start !== this.started) this.start();
    this.started = start || this.started;
  }

  get isMovedHere() {
    return this.followed || this.framed.length > 0;
  }

  mark() {
    const { layers } = this;
    const each = Math.ceil(layers.length / MAX_TICKS);
    const said = layers.filter((_layer, i) => i % each === 0);
    if (said.join() === [...this.ticks.children].map((tick) => tick.textContent).join()) return;
    const shareOf = (layer) => layers.indexOf(layer) / (layers.length - 1);
    this.ticks.replaceChildren(...said.map((layer) => tickOf(layer, shareOf(layer))));
  }

  label() {
    this.play.ariaLabel = this.playing ? "Stop at this layer" : "Play all layers";
    this.play.classList.toggle("playing", Boolean(this.playing));
    document.body.toggleAttribute("data-plays", Boolean(this.playing)); // the chart is ahead
  }

  show(layer) {
    this.moveTo(this.layers.indexOf(layer));
  }

  moveTo(index) {
    this.slider.value = index;
    const layer = String(this.at);
    this.slider.ariaValueText = layer;
    this.root.querySelector(".now").textContent = layer;
    this.slider.style.setProperty("--done", index / (this.layers.length - 1));
    for (const tick of this.ticks.children) {
      tick.classList.toggle("here", tick.textContent === layer);
    }
  }

  move() {
    this.end();
    this.show(this.at);
    this.draw(this.at);
  }

  settle() {
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.choose(this.at), REST_MS);
  }

  rest(layer) {
    this.show(layer);
    oneStepBack(false);
  }

  jump(event) {
    const tick = event.target.closest("button");
    if (!tick) return;
    this.show(Number(tick.textContent));
    this.move();
    this.choose(this.at);
  }

  choose(layer) {
    if (layer === this.layer || layer === this.wanted) return;
    this.wanted = layer;
    this.send(layer);
  }

  // Frames bear their layers' names. A chart without them, as while it loads, stays as it is.
  async draw(layer) {
    if (this.followed) tell(layer, false);
    const how = { mode: "immediate", frame: { duration: 0, redraw: true } };
    for (const name of this.framed) {
      for (const chart of document.querySelectorAll(`.${CSS.escape(name)} .js-plotly-plot`)) {
        const options = { ...how, transition: { duration: 0 } };
        await window.Plotly?.animate(chart, [String(layer)], options).catch(() => {});
      }
    }
  }

  async start() {
    const turn = this.begin();
    const back = this.layer;
    await (this.followed && !isStill() ? this.glide(turn) : this.steps(turn));
    if (turn !== this.turn) return;
    if (this.root.isConnected) await this.step(back);
    if (turn === this.turn) this.end();
  }

  // Through all places between the layers, as fast as the browser draws. None of them is left out.
  glide(turn) {
    const last = this.layers.length - 1;
    const whole = Math.min(GLIDE_MOST_MS, GLIDE_MS * last);
    const began = performance.now();
    this.slider.step = "any";
    return new Promise((resolve) => {
      const step = (now) => {
        if (turn !== this.turn || !this.root.isConnected) return resolve();
        const share = Math.min(1, Math.max(0, (now - began) / whole));
        this.moveTo(last * share);
        tell(this.layers[0] + last * share, true);
        if (share < 1) return requestAnimationFrame(step);
        return setTimeout(resolve, REST_MS);
      };
      requestAnimationFrame(step);
    });
  }

  async steps(turn) {
    for (const layer of this.layers) {
      const is = await this.step(layer);
      if (is) await later(STEP_MS);
      if (turn !== this.turn || !is || !this.root.isConnected) return;
    }
  }

  // Whether the page shows the layer now.
  async step(layer) {
    this.show(layer);
    if (this.isMovedHere) {
      await this.draw(layer);
      return true;
    }
    if (layer === this.layer) return true;
    const arrived = new Promise((resolve) => {
      this.arrived = (shown) => shown === layer && resolve(true);
    });
    this.choose(layer);
    const { turn } = this;
    const is = await Promise.race([arrived, later(LATEST_MS)]);
    if (turn !== this.turn) return false;
    this.arrived = undefined;
    if (!is) this.wanted = undefined;
    return Boolean(is);
  }

  begin() {
    this.playing = true;
    this.label();
    if (!this.isMovedHere) oneStepBack(true);
    this.turn += 1;
    return this.turn;
  }

  end() {
    if (!this.playing) return;
    this.turn += 1;
    this.playing = false;
    const { at } = this;
    this.slider.step = 1;
    this.show(at);
    this.label();
    if (this.wanted === undefined) oneStepBack(false); // else when that layer is there
  }

  pause() {
    this.end();
    if (this.followed) tell(this.at, false);
    this.choose(this.at);
  }
}

function tickOf(layer, share) {
  const tick = button("tick", layer);
  tick.tabIndex = -1; // the slider is what a keyboard moves
  tick.style.setProperty("--at", share);
  return tick;
}

function later(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

// Each layer that Play shows is an address of its own; Back is to undo all of them at once.
let pushes;
function oneStepBack(on) {
  const { history } = window;
  if (!on) {
    if (pushes) delete history.pushState;
    pushes = undefined;
    return;
  }
  pushes = 0;
  history.pushState = (state, title, address) => {
    const { href, pathname } = window.location;
    const stays = new URL(address ?? href, href).pathname === pathname;
    if (stays) pushes += 1;
    else oneStepBack(false);
    const how = pushes > 1 ? History.prototype.replaceState : History.prototype.pushState;
    how.call(history, state, title, address);
  };
}
