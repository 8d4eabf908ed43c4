// Light or dark: the system's preference, until the visitor chooses; the choice is kept for this browser.

import { icon } from "./dom.js";

const KEPT = "slack_bot.theme";
const DARK = matchMedia("(prefers-color-scheme: dark)");

export function themeSwitch(button) {
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : DARK.matches);
  const show = () => {
    const label = isDark() ? "Light colours" : "Dark colours";
    button.replaceChildren(icon(isDark() ? "sun" : "moon"));
    button.setAttribute("aria-label", label);
    button.title = label;
  };
  const kept = localStorage.getItem(KEPT);
  if (kept === "light" || kept === "dark") root.dataset.theme = kept;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    localStorage.setItem(KEPT, root.dataset.theme);
    show();
  });
  DARK.addEventListener("change", show);
  show();
}
