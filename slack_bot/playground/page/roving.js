// A row or list of buttons that is one stop of the Tab key; arrows go from button to button.

const KEYS = { row: ["ArrowLeft", "ArrowRight"], list: ["ArrowUp", "ArrowDown"] };

/** `way` is "row" or "list". What `box` holds may be drawn anew at any time. */
export function roving(box, way) {
  let stop = null; // the button that had the focus last
  const all = () => [...box.querySelectorAll("button:not([role=menuitem])")];
  const settle = () => {
    const buttons = all();
    if (!buttons.includes(stop)) stop = buttons.find((one) => one === document.activeElement) ?? box.querySelector("[aria-current], [aria-pressed=true]") ?? buttons[0];
    for (const one of buttons) one.tabIndex = one === stop ? 0 : -1;
  };
  new MutationObserver(settle).observe(box, { childList: true, subtree: true });
  box.addEventListener("focusin", ({ target }) => { if (all().includes(target)) { stop = target; settle(); } });
  box.addEventListener("keydown", (event) => {
    const buttons = all().filter((one) => !one.disabled), at = buttons.indexOf(event.target);
    if (at < 0 || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const [back, ahead] = KEYS[way];
    const next = { [back]: buttons[at - 1], [ahead]: buttons[at + 1], Home: buttons[0], End: buttons.at(-1) }[event.key];
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
  settle();
}
