// Slack's `data_visualization`: bar, line, area and pie, drawn as SVG, with the numbers as a table for readers.

import { h, svg } from "./dom.js";

const [WIDTH, HEIGHT] = [560, 260];
const BOX = { left: 48, right: 12, top: 12, bottom: 44 };
const TICKS = 4;

export function chartNode(block) {
  const chart = block.chart ?? {};
  const series = chart.type === "pie" ? [{ name: block.title ?? "", data: chart.segments ?? [] }] : chart.series ?? [];
  const title = typeof block.title === "string" ? block.title : block.title?.text ?? "";
  const picture = chart.type === "pie" ? pie(series[0].data) : axes(chart, series);
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", `${chart.type} chart: ${title}`);
  const names = chart.type === "pie" ? share(series[0].data) : series.length > 1 ? series.map((one) => one.name) : [];
  return h("figure", { class: "chart" }, h("figcaption", { text: title }), picture,
    names.length ? h("ul", { class: "legend" }, ...names.map((name, at) => h("li", {}, h("i", { class: `tone-${at % 12}` }), name))) : null,
    numbers(chart, series));
}

function share(segments) {
  const sum = segments.reduce((all, one) => all + one.value, 0);
  return segments.map((one) => `${one.label} ${Math.round((one.value / sum) * 100)} %`);
}

/** The same as a table, which a screen reader reads and nobody else sees. */
function numbers(chart, series) {
  const labels = chart.type === "pie" ? series[0].data.map((one) => one.label) : chart.axis_config?.categories ?? [];
  return h("div", { class: "unseen" }, h("table", {}, h("tr", {}, h("td"), ...labels.map((text) => h("th", { text }))),
    ...series.map((one) => h("tr", {}, h("th", { text: one.name }), ...labels.map((label) => h("td", { text: String(at(one, label)) }))))));
}

function at(series, label) { return series.data.find((one) => one.label === label)?.value ?? 0; }

function axes(chart, series) {
  const { categories = [], x_label, y_label } = chart.axis_config ?? {};
  const values = series.flatMap((one) => one.data.map((point) => point.value));
  const scale = scaleOf(Math.min(0, ...values), Math.max(0, ...values));
  const inner = { width: WIDTH - BOX.left - BOX.right, height: HEIGHT - BOX.top - BOX.bottom };
  const y = (value) => BOX.top + inner.height * (1 - (value - scale.low) / (scale.high - scale.low));
  const slot = inner.width / Math.max(1, categories.length);
  const middle = (index) => BOX.left + slot * (index + 0.5);
  const drawn = { bar: bars, line: lines, area: lines }[chart.type] ?? bars;
  const skip = Math.ceil(categories.length / 10);
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}` },
    ...scale.ticks.flatMap((value) => [
      svg("line", { class: value === 0 ? "axis" : "grid", x1: BOX.left, x2: WIDTH - BOX.right, y1: y(value), y2: y(value) }),
      svg("text", { class: "tick end", x: BOX.left - 6, y: y(value) + 4 }, short(value))]),
    ...drawn({ series, categories, y, slot, middle, isArea: chart.type === "area", zero: y(0) }),
    ...categories.map((text, index) => (index % skip ? null : svg("text", { class: "tick mid", x: middle(index), y: HEIGHT - BOX.bottom + 16 }, fit(text, slot * skip)))),
    x_label ? svg("text", { class: "label mid", x: BOX.left + inner.width / 2, y: HEIGHT - 6 }, x_label) : null,
    y_label ? svg("text", { class: "label mid", transform: `translate(11 ${BOX.top + inner.height / 2}) rotate(-90)` }, y_label) : null);
}

function bars({ series, categories, y, slot, middle, zero }) {
  const wide = Math.min(48, (slot * 0.72) / series.length);
  return categories.flatMap((label, index) => series.map((one, which) => {
    const value = at(one, label);
    const x = middle(index) + wide * (which - series.length / 2);
    return svg("rect", { class: `tone-${which % 12}`, x: x + 1, y: Math.min(zero, y(value)), width: Math.max(1, wide - 2), height: Math.abs(y(value) - zero), rx: 2 },
      svg("title", {}, `${one.name}, ${label}: ${value}`));
  }));
}

function lines({ series, categories, y, middle, isArea, zero }) {
  return series.flatMap((one, which) => {
    const points = categories.map((label, index) => `${middle(index)},${y(at(one, label))}`);
    const ends = `${middle(categories.length - 1)},${zero} ${middle(0)},${zero}`;
    return [
      isArea ? svg("polygon", { class: `area tone-${which % 12}`, points: `${points.join(" ")} ${ends}` }) : null,
      svg("polyline", { class: `stroke tone-${which % 12}`, points: points.join(" ") }),
      ...categories.map((label, index) => svg("circle", { class: `tone-${which % 12}`, cx: middle(index), cy: y(at(one, label)), r: 3 }, svg("title", {}, `${one.name}, ${label}: ${at(one, label)}`)))];
  });
}

function pie(segments) {
  const sum = segments.reduce((all, one) => all + one.value, 0) || 1;
  const [x, y, r] = [110, 110, 100];
  let from = -Math.PI / 2;
  const parts = segments.map((one, index) => {
    const to = from + (one.value / sum) * 2 * Math.PI;
    const point = (angle) => `${(x + r * Math.cos(angle)).toFixed(2)} ${(y + r * Math.sin(angle)).toFixed(2)}`;
    const path = segments.length === 1 ? `M ${x - r} ${y} a ${r} ${r} 0 1 1 ${2 * r} 0 a ${r} ${r} 0 1 1 ${-2 * r} 0`
      : `M ${x} ${y} L ${point(from)} A ${r} ${r} 0 ${to - from > Math.PI ? 1 : 0} 1 ${point(to)} Z`;
    from = to;
    return svg("path", { class: `tone-${index % 12} slice`, d: path }, svg("title", {}, `${one.label}: ${one.value}`));
  });
  return svg("svg", { viewBox: "0 0 220 220", class: "pie" }, ...parts);
}

/** Ends and ticks that are round numbers. */
function scaleOf(low, high) {
  if (low === high) high = low + 1;
  const rough = (high - low) / TICKS;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((one) => one * unit).find((one) => one >= rough);
  const [from, to] = [Math.floor(low / step) * step, Math.ceil(high / step) * step];
  const ticks = [];
  for (let value = from; value <= to + step / 2; value += step) ticks.push(Number(value.toPrecision(12)));
  return { low: from, high: to, ticks };
}

function short(value) {
  const size = Math.abs(value);
  if (size >= 1e9) return `${value / 1e9} G`;
  if (size >= 1e6) return `${value / 1e6} M`;
  return size >= 1e4 ? `${value / 1e3} k` : String(value);
}

function fit(text, width) {
  const most = Math.max(3, Math.floor(width / 6.2));
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
