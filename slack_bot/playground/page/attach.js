// Files that go with a message: chosen, pasted or dropped.

import { h, icon } from "./dom.js";

const MOST = 10;
const LARGEST = 32 * 1024 * 1024;

export class Attachments {
  /** `complain(text)` says what is not taken; `changed()` is told of each change. */
  constructor(form, field, { complain, changed }) {
    Object.assign(this, { complain, changed });
    this.files = [];
    this.list = h("ul", { class: "attached", "aria-label": "Files of the message" });
    const pick = h("input", { type: "file", multiple: true, hidden: true });
    pick.addEventListener("change", () => { this.add(pick.files); pick.value = ""; field.focus(); });
    form.append(this.list, h("button", { type: "button", class: "bare", "aria-label": "Attach files", title: "Attach files", data: { attach: "" }, on: { click: () => pick.click() } }, icon("clip")), pick);
    field.addEventListener("paste", (event) => {
      if (!event.clipboardData?.files.length) return;
      event.preventDefault();
      this.add(event.clipboardData.files);
    });
  }

  add(files) {
    for (const file of files) {
      const size = this.files.reduce((sum, one) => sum + one.size, file.size);
      if (this.files.length === MOST || size > LARGEST) { this.complain(`A message takes ${MOST} files of 32 MB in all; ${file.name} is left out.`); break; }
      this.files.push(file);
    }
    this.draw();
  }

  clear() { this.files = []; this.draw(); }

  draw() {
    for (const picture of this.list.querySelectorAll("img")) URL.revokeObjectURL(picture.src);
    this.list.replaceChildren(...this.files.map((file, index) => h("li", {},
      /^image\/(png|jpeg|gif|webp)$/.test(file.type) ? h("img", { src: URL.createObjectURL(file), alt: "" }) : icon("file"),
      h("span", { text: file.name || "picture" }),
      h("button", { type: "button", class: "bare", "aria-label": `Remove ${file.name}`, on: { click: () => { this.files.splice(index, 1); this.draw(); } } }, icon("close")))));
    this.changed();
  }

  /** As an order takes them. */
  async read() {
    return Promise.all(this.files.map(async (file, index) => ({ name: file.name || `picture-${index + 1}.png`, kind: file.type, data: await base64(file) })));
  }
}

function base64(file) {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => done(reader.result.slice(reader.result.indexOf(",") + 1)));
    reader.addEventListener("error", () => failed(reader.error));
    reader.readAsDataURL(file);
  });
}
