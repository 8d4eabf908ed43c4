// The address of what is shown: a conversation, a thread of it, a turn of that, for a reload and a second tab.
//
//   #C0GENERAL   #C0GENERAL/1790000000.000100   #C0GENERAL/1790000000.000100/T1:C0GENERAL:1790000000.000100   #D1/home

export function written({ place, thread, turn, tab }) {
  const parts = thread ? [thread.channel, thread.ts, ...(turn ? [turn] : [])] : [place, ...(tab === "home" ? ["home"] : [])];
  return `#${parts.map(encodeURIComponent).join("/")}`;
}

export function read(hash) {
  const [place, second, turn] = hash.slice(1).split("/").map(decoded);
  return { place, tab: second === "home" ? "home" : "messages", ts: second === "home" ? undefined : second, turn };
}

function decoded(part) {
  try { return decodeURIComponent(part); } catch { return part; }
}
