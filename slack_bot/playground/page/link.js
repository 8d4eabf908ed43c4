// The one web socket. It connects again by itself, for ever. An order counts as carried out when the playground
// says so and not when it was sent, so whoever gave it can keep what was typed until then.

const AGAIN_MS = 1000;

export class Link {
  /** `tell(tales)` hears what comes, `changed(up)` that the connection stands or is lost. */
  constructor(tell, changed) {
    this.tell = tell;
    this.changed = changed;
    this.up = false;
    this.number = 0;
    this.waiting = new Map();
  }

  connect() {
    const socket = this.socket = new WebSocket(`ws://${location.host}/ws`);
    socket.addEventListener("message", (event) => {
      const fresh = !this.up;
      this.up = true; // the first message is the snapshot, and only with it an order makes sense
      this.tell(JSON.parse(event.data));
      if (fresh) this.changed(true);
    });
    socket.addEventListener("close", () => {
      this.up = false;
      for (const number of [...this.waiting.keys()]) this.settle(number, false);
      this.changed(false);
      setTimeout(() => this.connect(), AGAIN_MS);
    });
  }

  /** Send an order. False if there is no connection; else `settled(taken, why)` is called once; `why` says why it was refused. True from `settled`: the visitor has been told. */
  send(order, settled = () => {}) {
    if (!this.up || this.socket.readyState !== WebSocket.OPEN) return false;
    this.number += 1;
    this.waiting.set(this.number, settled);
    this.socket.send(JSON.stringify({ ...order, n: this.number }));
    return true;
  }

  /** Whether the visitor has been told by it. */
  settle(number, taken, why = "") {
    const settled = this.waiting.get(number);
    this.waiting.delete(number);
    return settled?.(taken, why) === true;
  }
}
