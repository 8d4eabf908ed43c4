// Emoji come by name, as Slack has them. The common ones are drawn, so that no font is needed; every other one is
// shown by its name.

import { svg } from "./dom.js";

const YELLOW = "#f5c33b", BROWN = "#6b4a12", RED = "#d93a3a", GREEN = "#2f9e57", BLUE = "#4a90d9", GREY = "#8a97a3", WHITE = "#ffffff", BLACK = "#22282d";
const FACE = [["M8 1.500a6.500 6.500 0 1 0 0 13 6.500 6.500 0 0 0 0-13", YELLOW], ["M5.700 5.500v1.600M10.300 5.500v1.600", null, BROWN]];
const SMILE = ["M4.800 9.300a3.400 3.400 0 0 0 6.400 0z", BROWN];
const TEARS = "M3.800 8.500c-1.300 1.600-1.300 2.700 0 2.700s1.300-1.100 0-2.700";
const GLASS = [["M4.500 2.500h7v2.200L8.700 8l2.800 3.300v2.200h-7v-2.200L7.300 8 4.500 4.700z", "#dcebf5"], ["M3.500 2h9M3.500 14h9", null, BROWN]];
const THUMB = "M5 7.500l2.600-5c1 0 1.600.7 1.600 1.700V6.600h3.200c.8 0 1.300.7 1.100 1.500l-.9 4.200c-.1.700-.7 1.200-1.400 1.200H5zM2.500 7.500h1.700v6H2.500z";
const OCTAGON = "M5.300 1.500h5.400l3.800 3.800v5.400l-3.800 3.800H5.300l-3.800-3.800V5.300z";

/** What is drawn: paths of a 16-pixel field, each with its fill and its stroke. */
const DRAWINGS = {
  "+1": [[THUMB, YELLOW]],
  "-1": [[THUMB, YELLOW]], // turned by the style sheet
  hourglass: [...GLASS, ["M5.200 11.500L8 10l2.800 1.500v1.500H5.200z", YELLOW]],
  hourglass_flowing_sand: [...GLASS, ["M5.300 4.600h5.400L8 7.500z", YELLOW], ["M8 7.500v3.500", null, YELLOW], ["M5.500 13L8 11l2.500 2z", YELLOW]],
  eyes: [["M4.500 3.500c-3.500 0-3.500 9 0 9s3.500-9 0-9M11.500 3.500c-3.500 0-3.500 9 0 9s3.500-9 0-9", WHITE, GREY], ["M4 7a1.300 1.600 0 1 0 0 3.200A1.300 1.600 0 0 0 4 7M11 7a1.300 1.600 0 1 0 0 3.200A1.300 1.600 0 0 0 11 7", BLACK]],
  robot_face: [["M3.500 4.500h9v8.500h-9z", "#b9c6d1"], ["M8 1.500v3M2 7.500v3M14 7.500v3", null, GREY], ["M5 7h2v2H5zM9 7h2v2H9z", BLUE], ["M5.500 11h5", null, RED]],
  white_check_mark: [["M3.500 1.500h9a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2h-9a2 2 0 0 1-2-2v-9a2 2 0 0 1 2-2", GREEN], ["M4.500 8.300l2.600 2.600 4.500-5.400", null, WHITE]],
  heavy_check_mark: [["M2.500 8.500l3.700 3.700L13.500 4", null, GREEN]],
  x: [["M3.500 3.500l9 9M12.500 3.500l-9 9", null, RED]],
  warning: [["M8 1.800L15 14H1z", YELLOW], ["M8 6v4M8 12v.1", null, BLACK]],
  no_entry: [["M8 1.500a6.500 6.500 0 1 0 0 13 6.500 6.500 0 0 0 0-13", RED], ["M4.500 8h7", null, WHITE]],
  octagonal_sign: [[OCTAGON, RED]],
  heart: [["M8 14C-2 7.500 3.500-.5 8 4c4.500-4.500 10 3.500 0 10", RED]],
  star: [["M8 1.500l2 4.300 4.700.6-3.400 3.300.8 4.700L8 12.100l-4.100 2.300.8-4.700L1.300 6.400 6 5.800z", YELLOW]],
  zap: [["M9.500 1L3.500 9h3.700L6 15l6.500-8.500H8.500z", YELLOW]],
  bulb: [["M8 1.500a4.500 4.500 0 0 0-2.500 8.200V11h5V9.700A4.500 4.500 0 0 0 8 1.500", YELLOW], ["M6 12.500h4M6.800 14.500h2.400", null, GREY]],
  fire: [["M8 1c.5 3 4.500 4.500 4.500 8.500a4.500 4.500 0 0 1-9 0C3.500 7 5.500 6 5.500 4c1 .5 1.500 1.500 1.500 2.500C8 5 8.300 3 8 1", "#e8662c"], ["M8 8.500c2.500 2.500 2.300 5 0 5s-2.500-2.500 0-5", YELLOW]],
  mag: [["M6.700 1.800a4.900 4.900 0 1 0 0 9.800 4.900 4.900 0 0 0 0-9.800", "#dcebf5", GREY], ["M10.300 10.300l4 4", null, BROWN]],
  wrench: [["M13.800 4.200l-2.300 2.300-2-2 2.300-2.300a3.800 3.800 0 0 0-4.800 4.800L2 12l2 2 5-5a3.800 3.800 0 0 0 4.800-4.800z", "#b9c6d1", GREY]],
  books: [["M2 3h3v10.500H2z", RED], ["M5.500 3h3v10.500h-3z", GREEN], ["M9.500 3.500l2.900-.8 2.600 10-2.900.8z", BLUE]],
  rocket: [["M8 1c2.500 2 3.500 5 2.500 9.500h-5C4.500 6 5.500 3 8 1", "#c3ced8"], ["M5.300 7.500L3 10.500V13l2.800-2.500M10.700 7.500L13 10.500V13l-2.800-2.500", RED], ["M8 5a1.200 1.200 0 1 0 0 2.400A1.200 1.200 0 0 0 8 5", BLUE], ["M6.500 11.500h3L8 15z", YELLOW]],
    airplane: [["M2 9.700l4.500-2.200L3.800 3l1.700-.8 4.500 3.500 3-1.500c.9-.4 1.800 0 2.100.6s0 1.500-.9 1.900L4.300 11.600z", "#b9c6d1", GREY], ["M1.200 7l1.600-.7 1.500 2.200-1.800.9z", RED], ["M2 14.500h12", null, BLUE]],
  ticket: [["M1 3.500h14v3a1.500 1.500 0 0 0 0 3v3H1v-3a1.500 1.500 0 0 0 0-3z", "#e8a23c"], ["M10.500 4.200v1.600M10.500 7.200v1.600M10.500 10.200v1.600", null, WHITE], ["M3.800 6.500h4.500M3.800 9.500h3.500", null, BROWN]],
  tada: [["M1.500 14.500L5 5.500l5.500 5.500z", YELLOW], ["M8 5c1.500-1 1-3 0-3.500M11 8c1-1.500 3-1 3.500 0M9.500 6.500l3-3", null, RED], ["M12 1.500v.1M14.500 4.500v.1M11 3v.1", null, BLUE]],
  smile: [...FACE, SMILE],
  joy: [...FACE, SMILE, [`${TEARS}M12.200 8.500c-1.300 1.600-1.300 2.700 0 2.700s1.300-1.100 0-2.700`, BLUE]],
  cry: [...FACE, ["M5.500 11.500a2.700 2.700 0 0 1 5 0", null, BROWN], ["M10.800 7.500c-1.300 1.600-1.300 2.700 0 2.700s1.300-1.100 0-2.700", BLUE]],
  thinking_face: [...FACE, ["M6 10.500l4-.8M4.800 4.300l1.700-.5M9.500 3.600l1.800.6", null, BROWN]],
};
const SAME = { thumbsup: "+1", thumbsdown: "-1" };

/** What stands for the emoji `name`: a drawing, else `:name:`. */
export function drawn(name) {
  const own = Object.hasOwn(SAME, name) ? SAME[name] : name;
  if (!Object.hasOwn(DRAWINGS, own)) return `:${name}:`;
  const paths = DRAWINGS[own].map(([d, fill, stroke]) => svg("path", { d, fill: fill ?? "none", ...(stroke ? { stroke } : {}) }));
  return svg("svg", { viewBox: "0 0 16 16", class: `emoji emoji-${own === "-1" ? "down" : "plain"}`, role: "img", "aria-label": name.replaceAll("_", " ") }, ...paths);
}
