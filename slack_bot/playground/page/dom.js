// Builds DOM nodes. Text always goes in as text, so nothing that an agent writes can become markup.

/** An element: `props` are attributes, except `class`, `text`, `on` (listeners) and `data`. */
export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") node.className = value;
    else if (name === "text") node.textContent = value;
    else if (name === "on") for (const [event, run] of Object.entries(value)) node.addEventListener(event, run);
    else if (name === "data") Object.assign(node.dataset, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** Put `nodes` into `box` in place of what is there. Where the focus was on one of these, it stays at that place. */
export function refill(box, nodes) {
  const at = [...box.children].indexOf(document.activeElement);
  box.replaceChildren(...nodes);
  if (at >= 0) box.children[Math.min(at, nodes.length - 1)]?.focus();
}

const SVG = "http://www.w3.org/2000/svg";
const PATHS = {
  check: "M3.5 8.5l3 3 6-7",
  alert: "M8 2.5l6 11H2zM8 6.5v3.2M8 11.6v.2",
  stop: "M4.5 4.5h7v7h-7z",
  up: "M5 7.5l2.6-5c1 0 1.6.7 1.6 1.7V6.6h3.2c.8 0 1.3.7 1.1 1.5l-.9 4.2c-.1.7-.7 1.2-1.4 1.2H5zM2.5 7.5H5v6H2.5z",
  down: "M5 8.5l2.6 5c1 0 1.6-.7 1.6-1.7V9.4h3.2c.8 0 1.3-.7 1.1-1.5l-.9-4.2C12.5 3 11.900 2.500 11.200 2.500H5zM2.500 8.500H5v-6H2.500z",
  close: "M4 4l8 8M12 4l-8 8",
  send: "M2.500 3l11 5-11 5 1.800-5z",
  file: "M4 2.5h5l3 3v8H4zM9 2.5v3h3",
  retry: "M12.800 6.200A5 5 0 1 0 13 9M13 3v3.400H9.600",
};

/** A 16-pixel line icon; decorative, so hidden from readers. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  svg.classList.add("icon", `icon-${name}`);
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}
