// Tabs and their panels. The tabs are one stop of the Tab key; arrows go from tab to tab, and the panel follows.

const STEPS = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity };

/** `list` holds the tabs, each naming its panel; `chosen()` is told when another panel is shown. */
export function tabs(list, chosen) {
  const all = [...list.querySelectorAll("[role=tab]")];
  const choose = (tab) => {
    for (const one of all) {
      one.setAttribute("aria-selected", String(one === tab));
      one.tabIndex = one === tab ? 0 : -1;
      document.getElementById(one.getAttribute("aria-controls")).hidden = one !== tab;
    }
    chosen();
  };
  for (const tab of all) tab.addEventListener("click", () => choose(tab));
  list.addEventListener("keydown", (event) => {
    const at = all.indexOf(event.target), step = STEPS[event.key];
    if (at < 0 || step === undefined || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const next = Number.isFinite(step) ? all.at((at + step) % all.length) : all.at(step < 0 ? 0 : -1);
    next.focus();
    choose(next);
  });
}
