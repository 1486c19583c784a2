// The report as the reader edits it. What they type is kept at once: in localStorage, which a page
// that is left still writes to, and on a pause with the views. A removed view can come back.

import { download, reportAsHtml } from "../../../ui/widgets/assets/chart_files.js";
import { update } from "../../../ui/widgets/assets/component.js";
import { button, make } from "../../../ui/widgets/assets/elements.js";
import { notebook } from "../../../ui/widgets/assets/notebook.js";
import {
  change,
  entries,
  HEAD,
  Problem,
  remove,
  save,
  watch,
} from "../../../ui/widgets/assets/report_store.js";

const PAUSE = 300; // milliseconds after the last key, before what was typed is kept
const NO_HEAD = { id: HEAD, order: -1, picture: "", title: "", note: "" };
const TYPED = "contextlens-report"; // in localStorage: by id, changes that are not with the views yet
const MAX_TYPED = 10_000;

export default function render(component) {
  update(Report, ".report", component);
}

class Report {
  constructor(root) {
    this.root = root;
    this.gone = new AbortController();
    const changed = () => (root.isConnected ? this.load() : this.gone.abort());
    watch(changed, this.gone.signal);
  }

  update({ words, presented, examples }) {
    this.presented = presented;
    this.drawExamples(words, examples);
    this.root.classList.toggle("presented", presented);
    if (this.words) {
      for (const field of this.root.querySelectorAll("input, textarea")) field.readOnly = presented;
      return;
    }
    this.words = words;
    const [title, introduction] = this.root.querySelectorAll(".head .field");
    this.title = this.field(title, words.title, "title");
    this.introduction = this.field(introduction, words.introduction, "note");
    this.root.querySelector(".empty").textContent = words.empty;
    const actions = this.root.querySelector(".actions");
    for (const [name, act] of Object.entries({
      html: () => this.saveHtml(),
      print: () => this.print(),
      notebook: () => this.saveNotebook(),
      clear: () => this.clear(),
    })) {
      const element = button(name, words[name]);
      element.onclick = () => this.attempt(act);
      actions.append(element);
    }
    this.load();
  }

  field(label, name, key) {
    const input = label.querySelector("input, textarea");
    label.querySelector(".name").textContent = name;
    input.maxLength = input.maxLength > 0 ? input.maxLength : MAX_TYPED;
    this.keepTyped(input, HEAD, key);
    return input;
  }

  // --- What is kept

  keepTyped(input, id, key) {
    input.oninput = () => this.attempt(() => this.type(id, { [key]: input.value }));
    input.onblur = () => this.attempt(() => this.flush());
  }

  type(id, parts) {
    const typed = JSON.parse(localStorage.getItem(TYPED) ?? "{}");
    localStorage.setItem(TYPED, JSON.stringify({ ...typed, [id]: { ...typed[id], ...parts } }));
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.attempt(() => this.flush()), PAUSE);
  }

  async flush() {
    clearTimeout(this.timer);
    const text = localStorage.getItem(TYPED);
    if (text) {
      await change(JSON.parse(text));
      if (localStorage.getItem(TYPED) === text) localStorage.removeItem(TYPED);
    }
    if (this.isLate) await this.load(); // another tab changed something meanwhile
  }

  async read() {
    await this.flush();
    let all = await entries();
    if (!all.some(({ id }) => id === HEAD)) {
      await save([NO_HEAD]);
      all = [NO_HEAD, ...all];
    }
    this.head = all.find(({ id }) => id === HEAD);
    this.views = all.filter(({ id }) => id !== HEAD);
  }

  load() {
    this.isLate = this.views && this.isTypedIn();
    if (this.isLate) return undefined;
    return this.attempt(async () => {
      await this.read();
      this.draw();
    });
  }

  // Drawing the views anew would take the field from under the reader's hands.
  isTypedIn() {
    return Boolean(this.root.getRootNode().activeElement?.matches(".views :is(input, textarea)"));
  }

  async move(id, step) {
    await this.read();
    const order = this.views.map((view) => view.id);
    const from = order.indexOf(id);
    if (from + step in order) {
      [order[from], order[from + step]] = [order[from + step], order[from]];
      await change(Object.fromEntries(order.map((own, i) => [own, { order: i }])));
    }
    await this.load();
    const moved = this.root.querySelector(`[data-id="${id}"]`);
    const ways = step < 0 ? [".up", ".down"] : [".down", ".up"];
    ways
      .map((way) => moved?.querySelector(way))
      .find((way) => way && !way.disabled)
      ?.focus();
  }

  // Removes entries, says so, and offers to bring them back, with those removed just before.
  async removeEntries(chosen, message) {
    const before = this.root.querySelector(".undo") ? this.removed : [];
    const removed = [...before, ...chosen];
    this.removed = removed;
    await remove(chosen.map(({ id }) => id));
    await this.load();
    const n = removed.filter(({ picture }) => picture).length; // not the report's title
    this.say(`${before.length ? this.call("removed_more", { n }) : message} `);
    const undo = button("undo", this.words.undo);
    undo.onclick = () =>
      this.attempt(async () => {
        await save(removed);
        await this.load();
        this.say(this.words.back);
        this.root.querySelector(`[data-id="${removed.at(-1).id}"] .remove`)?.focus();
      });
    this.root.querySelector(".said").append(undo);
    undo.focus();
  }

  async clear() {
    await this.read();
    await this.removeEntries([this.head, ...this.views], this.words.emptied);
  }

  async drop(dropped) {
    await this.read();
    const view = this.views.find(({ id }) => id === dropped);
    if (view) await this.removeEntries([view], this.call("removed", { title: view.title }));
  }

  // --- What is seen

  draw() {
    const { title, note } = this.head;
    const { activeElement } = this.root.getRootNode();
    if (activeElement !== this.title) this.title.value = title;
    if (activeElement !== this.introduction) this.introduction.value = note;
    this.title.placeholder = this.words.untitled;
    this.root.classList.toggle("none", this.views.length === 0);
    const list = this.root.querySelector(":scope > .views");
    list.replaceChildren(...this.views.map((view, i) => this.item(view, i)));
  }

  // What an empty report shows; without views of its own, the reader sees what one looks like.
  drawExamples(words, examples) {
    const example = this.root.querySelector(".example");
    example.classList.toggle("none", examples.length === 0);
    example.querySelector("h2").textContent = words.example;
    example.querySelector(".views").replaceChildren(
      ...examples.map(({ title, claim, svg }) => {
        const item = make("li", "view");
        const image = make("img", "");
        const drawn = svg.replaceAll("currentColor", getComputedStyle(this.root).color);
        image.src = `data:image/svg+xml,${encodeURIComponent(drawn)}`;
        image.alt = claim || title;
        const about = make("div", "about");
        about.append(make("h3", "", title), make("p", "claim", claim));
        item.append(image, about);
        return item;
      }),
    );
  }

  item(view, i) {
    const n = i + 1;
    const item = make("li", "view");
    item.dataset.id = view.id;
    const image = make("img", "");
    image.src = view.picture;
    image.alt = view.claim || view.title;
    const about = make("div", "about");
    const title = this.editor(
      "textarea",
      "title",
      view,
      "title",
      this.call("view_title", { n }),
      300,
    );
    const claim = make("p", "claim", view.claim);
    const showClaim = () => (claim.hidden = title.value === view.claim); // it is said once
    title.addEventListener("input", showClaim);
    showClaim();
    about.append(
      title,
      claim,
      this.editor("textarea", "note", view, "note", this.call("note", { n }), MAX_TYPED),
      settingsOf(view, this.words),
    );
    const actions = make("div", "row");
    if (view.link) actions.append(anchor(view.link, this.words.open));
    for (const [name, sign, act, off] of [
      ["up", "↑", () => this.move(view.id, -1), i === 0],
      ["down", "↓", () => this.move(view.id, 1), n === this.views.length],
      ["remove", "×", () => this.drop(view.id), false],
    ]) {
      const element = button(name, sign);
      element.ariaLabel = this.call(name, { n });
      element.title = element.ariaLabel;
      element.disabled = off;
      element.onclick = () => this.attempt(act);
      actions.append(element);
    }
    about.append(actions);
    item.append(image, about);
    return item;
  }

  editor(tag, name, view, key, label, most) {
    const field = make(tag, name);
    field.value = view[key] ?? "";
    field.ariaLabel = label;
    field.maxLength = most;
    field.rows = name === "note" ? 2 : 1;
    if (name === "note") field.placeholder = this.words.note_placeholder;
    field.readOnly = this.presented;
    this.keepTyped(field, view.id, key);
    return field;
  }

  call(key, values) {
    return this.words[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
  }

  say(words, problem = false) {
    const said = this.root.querySelector(".said");
    said.textContent = words;
    said.classList.toggle("problem", problem);
  }

  async attempt(act) {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof Problem)) console.error("The report could not be changed", error);
      this.say(error instanceof Problem ? error.message : this.words.failed, true);
    }
  }

  // --- What is taken away

  async saveHtml() {
    await this.read();
    const html = reportAsHtml(this.head, this.views, this.words);
    download(new Blob([html], { type: "text/html" }), "report.html");
    this.say(this.call("saved", { name: "report.html" }));
  }

  async saveNotebook() {
    await this.read();
    const text = notebook(this.views, this.head.title || this.words.untitled, this.head.note);
    download(new Blob([text], { type: "application/x-ipynb+json" }), "report.ipynb");
    this.say(this.call("saved", { name: "report.ipynb" }));
  }

  async print() {
    await this.read();
    const frame = make("iframe", "printed");
    frame.srcdoc = reportAsHtml(this.head, this.views, this.words);
    frame.onload = () => {
      frame.contentWindow.onafterprint = () => frame.remove();
      frame.contentWindow.print();
    };
    this.root.querySelector("iframe")?.remove();
    this.root.append(frame);
  }
}

function settingsOf({ settings, caption }, words) {
  const details = make("details", "settings");
  const table = make("table", "");
  for (const [label, value] of settings) {
    const row = make("tr", "");
    row.append(make("th", "", label), make("td", "", value));
    table.append(row);
  }
  details.append(make("summary", "", words.settings), table, make("p", "passport", caption));
  return details;
}

function anchor(href, text) {
  const link = make("a", "", text);
  link.href = href;
  return link;
}
