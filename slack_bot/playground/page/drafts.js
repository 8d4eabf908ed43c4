// What outlives a reload of the page, in this window: what was written and not sent, by place, and who somebody is.

const keptAs = (prefix) => ({
  get: (key) => sessionStorage.getItem(prefix + key) ?? undefined,
  delete: (key) => sessionStorage.removeItem(prefix + key),
  set(key, text) {
    try { sessionStorage.setItem(prefix + key, text); } catch { /* there is no room: it is lost with the page */ }
  },
});

export const drafts = keptAs("slack_bot.draft ");
export const visitor = keptAs("slack_bot.visitor ");
