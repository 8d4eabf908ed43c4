// When the page is drawn. Hundreds of updates may arrive between two frames; the page is drawn once for all of
// them. Everything is written first and scrolled last, so that a frame costs one layout.

/**
 * `draw`, in an animation frame: once, however often it is asked for, and at most once in `gap` milliseconds.
 * `now()` draws at once, for what the visitor does.
 */
export function paced(draw, gap) {
  let asked = false;
  let last = -Infinity;
  const run = () => { asked = false; last = performance.now(); draw(); };
  const ask = () => {
    if (asked) return;
    asked = true;
    const wait = last + gap - performance.now();
    if (wait > 0) setTimeout(() => requestAnimationFrame(run), wait); else requestAnimationFrame(run);
  };
  return { ask, now: draw };
}

const sticky = new Set();

/**
 * Keeps `box` at its end while it grows, unless the reader has scrolled up. `scrollAll` does the scrolling.
 *
 * The event of a scroll comes in a later frame. Until then a picture may be loaded, or the field below may grow:
 * so only a position above the last one is the reader's doing, and being far from the end alone says nothing.
 * `told(isStuck)` hears of each change.
 */
export function stickToEnd(box, told = () => {}) {
  let isStuck = true;
  let top = 0; // the last position, which only a reader or a shorter content makes smaller
  const stick = {
    box,
    get stuck() { return isStuck; },
    set stuck(is) { if (is !== isStuck) told(isStuck = is); },
    due: false,
    follow() { stick.due = true; },
    toEnd() { stick.stuck = stick.due = true; },
    scroll() { box.scrollTop = 1e9; top = box.scrollTop; }, // the browser stops at the end
  };
  const again = () => { if (stick.stuck) stick.scroll(); };
  box.addEventListener("scroll", ({ isTrusted }) => {
    const isUp = box.scrollTop < top || !isTrusted; // one of our own says that a reader has unfolded something
    top = box.scrollTop;
    if (box.scrollHeight - top - box.clientHeight < 32) stick.stuck = true;
    else if (isUp) stick.stuck = false;
    else again();
  }, { passive: true });
  box.addEventListener("load", again, { capture: true }); // a picture has its height
  new ResizeObserver(again).observe(box); // the window, or what stands below it
  sticky.add(stick);
  return stick;
}

/** Scroll what grew to its end; `every` box when their sizes may have changed. */
export function scrollAll(every = false) {
  for (const stick of sticky) {
    if (stick.stuck && (stick.due || every)) stick.scroll();
    stick.due = false;
  }
}
