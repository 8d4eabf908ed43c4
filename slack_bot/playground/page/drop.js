// Files that are dropped on the window. On a field they go with the message; anywhere else one is replayed.

const HERE = "Drop it to send it with your message";
const ELSEWHERE = "Drop a tape, a capture or raw SSE to replay it. On the message field, any file goes with your message.";

/** `veil` covers the page meanwhile, `says` stands on it. `composers` are all fields; `replay(file)`; `complain(text)`. */
export function takeDrops(veil, says, { composers, replay, complain }) {
  let within = 0;
  const over = (change) => { within = Math.max(0, within + change); veil.hidden = within === 0; };
  const composerAt = ({ target }) => { const form = target.closest?.(".composer"); return composers.find((one) => one.form === form); };
  addEventListener("dragenter", (event) => { event.preventDefault(); over(1); });
  addEventListener("dragleave", () => over(-1));
  addEventListener("dragover", (event) => { event.preventDefault(); says.textContent = composerAt(event) ? HERE : ELSEWHERE; });
  addEventListener("drop", (event) => {
    event.preventDefault();
    over(-within);
    const files = event.dataTransfer?.files ?? [], composer = composerAt(event);
    if (composer && files.length) { composer.attached.add(files); composer.field.focus(); }
    else if (/^(image|audio|video)\//.test(files[0]?.type)) complain("This is nothing to replay. Drop it on the message field to send it as a file.");
    else replay(files[0]);
  });
}
