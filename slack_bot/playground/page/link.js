// The web socket. It reconnects for ever. An order is done when the playground confirms it, not when it was sent,
// so a composer can keep its text until then.

const AGAIN_MS = 1000;

export class Link {
  /** `receive(updates)` gets what comes; `changed(up, lost)`: the connection is up, or has been lost for so many milliseconds. */
  constructor(receive, changed) {
    this.receive = receive;
    this.changed = changed;
    this.up = false;
    this.lostAt = null;
    this.number = 0;
    this.waiting = new Map();
  }

  connect() {
    const socket = this.socket = new WebSocket(`ws://${location.host}/ws`);
    socket.addEventListener("message", (event) => {
      const fresh = !this.up;
      this.up = true; // the first message is the snapshot, and only with it an order makes sense
      this.receive(JSON.parse(event.data));
      if (!fresh) return;
      this.lostAt = null;
      this.changed(true, 0);
    });
    socket.addEventListener("close", () => {
      this.up = false;
      for (const number of [...this.waiting.keys()]) this.settle(number, false);
      this.lostAt ??= performance.now();
      this.changed(false, performance.now() - this.lostAt);
      setTimeout(() => this.connect(), AGAIN_MS);
    });
  }

  /** Send an order. False without a connection; else `settled(taken, why)` is called once; `why` is the reason of a refusal. `settled` returns true if it has shown that. */
  send(order, settled = () => {}) {
    if (!this.up || this.socket.readyState !== WebSocket.OPEN) return false;
    this.number += 1;
    this.waiting.set(this.number, settled);
    this.socket.send(JSON.stringify({ ...order, n: this.number }));
    return true;
  }

  /** Whether the reason was shown. */
  settle(number, taken, why = "") {
    const settled = this.waiting.get(number);
    this.waiting.delete(number);
    return settled?.(taken, why) === true;
  }
}
