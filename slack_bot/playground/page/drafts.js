// What was written and not sent, by place. It outlives a reload of the page, in this window.

const KEPT = "slack_bot.draft ";

export const drafts = {
  get: (key) => sessionStorage.getItem(KEPT + key) ?? undefined,
  delete: (key) => sessionStorage.removeItem(KEPT + key),
  set(key, text) {
    try { sessionStorage.setItem(KEPT + key, text); } catch { /* there is no room: it is lost with the page */ }
  },
};
