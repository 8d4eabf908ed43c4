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

/** Keeps `box` at its end while it grows, unless the reader has scrolled up. `scrollAll` does the scrolling. */
export function stickToEnd(box) {
  const stick = {
    box,
    stuck: true,
    due: false,
    follow() { stick.due = true; },
    toEnd() { stick.stuck = stick.due = true; },
  };
  box.addEventListener("scroll", () => { stick.stuck = box.scrollHeight - box.scrollTop - box.clientHeight < 32; }, { passive: true });
  new ResizeObserver(() => { if (stick.stuck) box.scrollTop = 1e9; }).observe(box); // the window, or what stands below it
  sticky.add(stick);
  return stick;
}

/** Scroll what grew to its end; `every` box when their sizes may have changed. */
export function scrollAll(every = false) {
  for (const stick of sticky) {
    if (stick.stuck && (stick.due || every)) stick.box.scrollTop = 1e9; // the browser stops at the end
    stick.due = false;
  }
}
