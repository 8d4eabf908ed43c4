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
  before: "M9.500 4l-4 4 4 4",
  bot: "M8 2v2.500M4 4.500h8A1.500 1.500 0 0 1 13.500 6v5a1.500 1.500 0 0 1-1.500 1.500H4A1.500 1.500 0 0 1 2.500 11V6A1.500 1.500 0 0 1 4 4.500M6 7.700v1.600M10 7.700v1.600",
  eye: "M1.500 8C4 3 12 3 14.500 8 12 13 4 13 1.500 8M8 6.200a1.800 1.800 0 1 0 0 3.600 1.800 1.800 0 0 0 0-3.600",
  above: "M4 9.500l4-4 4 4",
  ahead: "M6.500 4l4 4-4 4",
  below: "M4 6.500l4 4 4-4",
  close: "M4 4l8 8M12 4l-8 8",
  send: "M2.500 3l11 5-11 5 1.800-5z",
  file: "M4 2.5h5l3 3v8H4zM9 2.5v3h3",
  back: "M10 3L5 8l5 5",
  menu: "M2.500 4.500h11M2.500 8h11M2.500 11.500h11",
  sun: "M8 5.300a2.700 2.700 0 1 0 0 5.400 2.700 2.700 0 0 0 0-5.400M8 1.500v1.500M8 13v1.500M1.500 8H3M13 8h1.500M3.400 3.400l1.100 1.100M11.500 11.500l1.100 1.100M3.400 12.600l1.100-1.100M11.500 4.500l1.100-1.100",
  moon: "M13 9.500A5.500 5.500 0 0 1 6.500 3 5.500 5.500 0 1 0 13 9.500",
  hash: "M3 6h10.500M2.500 10.500H13M6.500 2.500L5 13.500M11 2.500L9.500 13.500",
  reply: "M6.500 4L2.500 8l4 4M2.500 8H9a4.500 4.500 0 0 1 4.500 4.500",
  edit: "M3 13l.7-3.200L10.900 2.600l2.500 2.500L6.200 12.300z",
  trash: "M3 4.500h10M6.500 4.500V3h3v1.500M4.500 4.500l.6 9h5.800l.6-9M6.800 7v4M9.200 7v4",
  copy: "M5.500 5.500h7.500v8H5.500zM10.500 5.500v-3H3v8h2.500",
  inside: "M2.500 3h11v10h-11zM9.500 3v10M11 5.500h1M11 8h1",
  clip: "M12.800 7.500l-5 5a3 3 0 0 1-4.300-4.300l5.600-5.600a2 2 0 0 1 2.900 2.900L6.600 10.900a1 1 0 0 1-1.400-1.400l4.600-4.600",
  home: "M2.500 7.500L8 3l5.500 4.500M4 6.500v7h8v-7",
  smile: "M8 2.500a5.500 5.500 0 1 0 0 11 5.500 5.500 0 0 0 0-11M6.200 6.500v.8M9.800 6.500v.8M5.500 9.300a2.800 2.800 0 0 0 5 0",
  react: "M9.300 2.900A5.500 5.500 0 1 0 13 7M12.500 1.500v4M10.500 3.500h4M5.700 6.700v.8M9.300 6.700v.8M5 9.500a2.800 2.800 0 0 0 5 0",
  retry: "M12.800 6.200A5 5 0 1 0 13 9M13 3v3.400H9.600",
};

/** An element of a drawing; `children` are elements or text. */
export function svg(tag, props = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props)) node.setAttribute(name, String(value));
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** A 16-pixel line icon; decorative, so hidden from readers. */
export function icon(name) {
  return svg("svg", { viewBox: "0 0 16 16", "aria-hidden": "true", class: `icon icon-${name}` }, svg("path", { d: PATHS[name] }));
}
