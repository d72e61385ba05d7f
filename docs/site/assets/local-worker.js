// Browsers start no workers for pages that were opened from disk. The search index needs one, so there the script of a
// worker runs in a hidden frame, which has the same two functions and gets the same messages.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    onmessage = null;

    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = "<!doctype html><title>search</title>";
      this.ready = new Promise((resolve) => this.frame.addEventListener("load", resolve, { once: true }))
        .then(() => this.#prepare())
        .then(() => this.#load(url));
      document.body.append(this.frame);
    }

    postMessage(data) {
      const copy = structuredClone(data);
      this.ready.then(() => this.frame.contentWindow?.dispatchEvent(new MessageEvent("message", { data: copy })));
    }

    terminate() {
      this.frame.remove();
    }

    #prepare() {
      const inner = this.frame.contentWindow;
      inner.postMessage = (data) => {
        const event = new MessageEvent("message", { data: structuredClone(data) });
        this.dispatchEvent(event);
        this.onmessage?.(event);
      };
      inner.importScripts = async (...urls) => {
        for (const url of urls) await this.#load(url);
      };
    }

    #load(url) {
      return new Promise((resolve, reject) => {
        const script = this.frame.contentDocument.createElement("script");
        script.src = url;
        script.addEventListener("load", resolve, { once: true });
        script.addEventListener("error", () => reject(new Error(`${url} cannot be loaded`)), { once: true });
        this.frame.contentDocument.body.append(script);
      });
    }
  };
}
