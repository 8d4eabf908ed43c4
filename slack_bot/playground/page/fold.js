// A long text or a long piece of code is folded, as in Slack, with a button that shows the rest.
//
// It is folded once, when it is first laid out. What grows or changes before a reader's eyes never is: nobody
// may lose the place they read at.

import { h, icon } from "./dom.js";

const LIMITS = { text: 60, code: 32 }; // rem; what is not much taller than its folded form stays as it is

const kept = new Set(); // keys of what a reader has seen whole
const folds = new WeakMap(); // by their content
const sizes = new ResizeObserver((entries) => { for (const { target } of entries) folds.get(target)?.look(); });

class Fold {
  constructor(content, kind, key) {
    Object.assign(this, { content, kind, key });
    folds.set(content, this);
    sizes.observe(content);
  }

  /** Its size is known, if it is not in a pane that is hidden. */
  look() {
    const { content, kind, key } = this;
    if (!content.scrollHeight) return;
    sizes.unobserve(content);
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
    if (kept.has(key) || content.scrollHeight <= LIMITS[kind] * rem) return;
    content.classList.add(`foldable-${kind}`);
    this.button = h("button", { type: "button", class: "fold", on: { click: () => this.press() } });
    content.after(this.button);
    content.addEventListener("focusin", ({ target }) => {
      if (this.isFolded && target.getBoundingClientRect().bottom > content.getBoundingClientRect().bottom) this.show(false);
    });
    this.show(true);
  }

  press() {
    if (this.isFolded) kept.add(this.key); else kept.delete(this.key);
    this.show(!this.isFolded);
    if (this.isFolded) this.button.scrollIntoView({ block: "nearest" });
  }

  show(isFolded) {
    this.isFolded = isFolded;
    this.content.classList.toggle("folded", isFolded);
    this.content.scrollTop = 0;
    this.button.replaceChildren(isFolded ? "Show more" : "Show less", icon(isFolded ? "below" : "above"));
    this.button.setAttribute("aria-expanded", String(!isFolded));
    if (!isFolded) this.content.closest(".scroll")?.dispatchEvent(new Event("scroll")); // its end may be elsewhere now
  }

  /** It changes: from now on it is shown whole. */
  end() {
    sizes.unobserve(this.content);
    if (this.button) { this.show(false); this.button.remove(); }
  }
}

/** Fold a message's text and its code where they are long. `key` is the message's. Returns a function that shows all of it for good. */
export function foldLong(text, key) {
  const all = [...[...text.querySelectorAll(".code pre")].map((code) => new Fold(code, "code", key)), new Fold(text, "text", key)];
  return () => { kept.add(key); for (const one of all) one.end(); };
}
