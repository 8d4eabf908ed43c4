// A text as people write it, and as Slack has it: escaped, people by their ids.

export function slackText(text, { bot, people }) {
  const mention = `<@${bot.user_id}>`;
  let said = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll(`@${bot.name}`, mention).trim();
  for (const one of Object.values(people)) if (!one.virtual) said = said.replaceAll(`@${one.name}`, `<@${one.id}>`);
  said = said.replace(/(^|\s)@(here|channel|everyone)(?![\w.-])/g, "$1<!$2>");
  return said.replace(new RegExp(`^(?:${mention}\\s*){2,}`), `${mention} `).trim(); // typed after the mention that stood there
}

// What people write is Slack's own markup: *bold* and ~struck~, where Markdown has ** and ~~, and quotes begin with an
// escaped >. Code stays as it was typed.
export function asMarkdown(text) {
  return text.split(/(```[^]*?```|`[^`\n]*`)/).map((part, at) => at % 2 ? typed(part)
    : part.replace(/^( {0,3})&gt;/gm, "$1>").replace(/(?<![\w*])\*(?![\s*])([^*\n]*[^\s*])\*(?![\w*])/g, "**$1**")
      .replace(/(?<![\w~])~(?![\s~])([^~\n]*[^\s~])~(?![\w~])/g, "~~$1~~")).join("");
}

export function shownText(text, { names }) {
  return typed(text.replace(/<!(here|channel|everyone)(?:\|[^>]*)?>/g, "@$1").replace(/<@([UW][A-Z0-9]+)(?:\|[^>]*)?>/g, (_, id) => `@${names[id] ?? id}`));
}

function typed(text) { return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&"); }
