// F6 and Shift+F6 go from pane to pane, and what is typed while no field has the focus goes into the message field, as in Slack.

/** `panes()` are [node, the stop where one comes into it]. One whose stop is not seen is left out. */
export function paneKeys(panes) {
  addEventListener("keydown", (event) => {
    if (event.key !== "F6" || event.altKey || event.ctrlKey || event.metaKey || document.querySelector("dialog[open]")) return;
    const seen = panes().filter(([, stop]) => stop?.checkVisibility({ visibilityProperty: true }));
    const at = seen.findIndex(([node]) => node.contains(document.activeElement));
    const next = event.shiftKey ? seen.at(at < 0 ? -1 : at - 1) : seen[(at + 1) % seen.length];
    if (!next) return;
    event.preventDefault();
    next[1].focus();
  });
}

/** `fieldOf(node)`: the message field of the pane that has this node, or null. The browser types into what gets the focus here. */
export function typeAnywhere(fieldOf) {
  addEventListener("keydown", (event) => {
    const isText = event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey && !event.isComposing;
    if (!isText || event.defaultPrevented || !event.target.matches("body, article, [role=log]") || document.querySelector("dialog[open]")) return;
    fieldOf(event.target)?.focus();
  });
}
