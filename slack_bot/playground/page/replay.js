// Files that are dropped or chosen to be replayed.

import { h } from "./dom.js";

const LARGEST = 32 * 1024 * 1024;

export class Replay {
  /** `nodes` by their ids. `send(order, settled)` is false without a connection; `isUp()`; `complain(text)`. */
  constructor(nodes, { send, isUp, complain }) {
    Object.assign(this, { nodes, send, isUp, complain });
    this.last = null;
    this.held = null; // a file that was dropped while there was no connection
    nodes.pick.addEventListener("click", () => nodes.file.click());
    nodes.file.addEventListener("change", () => { this.take(nodes.file.files[0]); nodes.file.value = ""; });
  }

  async take(file) {
    if (!file) return;
    if (file.size > LARGEST) { this.complain(`${file.name} is larger than 32 MB.`); return; }
    this.last = { type: "replay", name: file.name, text: await file.text(), speed: Number(this.nodes.speed.value) };
    if (this.order(this.last)) return;
    this.held = this.last;
    this.complain(`${file.name} will be replayed when the connection is back.`);
  }

  /** A file that may have arrived is not sent again by itself: it could have broken the connection. */
  order(order) {
    return this.send(order, (taken) => {
      if (!taken && !this.isUp()) this.complain(`The connection was lost while ${order.name} was on its way. Drop it again if no replay begins.`);
    });
  }

  /** The connection is back. */
  goOn() {
    if (this.held) this.order(this.held);
    this.held = null;
  }

  /** The file holds several streams: the visitor chooses. */
  choose(name, keys) {
    const { nodes } = this;
    nodes["choose-note"].textContent = `${name} holds several. Each can be replayed by itself.`;
    nodes.keys.replaceChildren(...keys.map((key) =>
      h("button", { type: "button", class: "chip", data: { sends: "" }, on: { click: () => { nodes.choose.close(); this.order({ ...this.last, key }); } } }, key)));
    nodes.choose.showModal();
  }
}
