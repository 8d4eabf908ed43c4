// Below a column whose reader has scrolled up: a button that leads to its end, and says so when something came.

import { h, icon } from "./dom.js";

export class Latest {
  /** It stands over the end of `box`; `toEnd()` goes there. */
  constructor(box, toEnd) {
    this.label = h("span");
    this.node = h("button", { type: "button", class: "latest", hidden: true, on: { click: () => { toEnd(); this.show(false); box.scrollTop = box.scrollHeight; box.focus(); } } }, this.label, icon("below"));
    box.after(this.node);
    this.show(false);
  }

  show(isAway) {
    this.node.hidden = !isAway;
    if (isAway) return;
    this.node.classList.remove("news");
    this.label.textContent = "Latest messages";
  }

  /** Something came. */
  note() {
    if (this.node.hidden) return;
    this.node.classList.add("news");
    this.label.textContent = "New messages";
  }
}
