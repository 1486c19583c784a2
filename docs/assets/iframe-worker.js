// Browsers start no worker for a page that was opened from a file. There, the site's search runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    waiting = [];

    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      const script = document.createElement("script");
      script.src = url;
      frame.hidden = true;
      frame.srcdoc = script.outerHTML;
      frame.addEventListener("load", () => this.begin(frame.contentWindow));
      document.body.append(frame);
    }

    begin(inside) {
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.postMessage = (data) => inside.dispatchEvent(new MessageEvent("message", { data }));
      for (const data of this.waiting) this.postMessage(data);
    }

    postMessage(data) {
      this.waiting.push(data);
    }
  };
}
