// The line between two panes: it can be moved, with the mouse or with arrows, and says how wide the pane is.

import { h } from "./dom.js";

const LEAST = 200;

/** How much of a window a pane may take, where three stand side by side and where two do; the style sheet says the same. */
const MOST = { sessions: [0.26, 0.26], tree: [0.38, 0.42] };

const three = matchMedia("(min-width: 1151px)");

/** Makes the line behind a pane. A width that was chosen is kept; in a window that has less room for it the pane is narrower. */
export function divider(name, pane) {
  const kept = Number(localStorage.getItem(`width-${name}`));
  const most = () => Math.max(LEAST, Math.floor(innerWidth * MOST[name][three.matches ? 0 : 1]));
  const width = () => Math.floor(pane.getBoundingClientRect().width);
  const show = (wanted) => document.documentElement.style.setProperty(`--${name}`, `${wanted}px`);
  const tell = () => {
    line.setAttribute("aria-valuemax", most());
    line.setAttribute("aria-valuenow", width());
    line.setAttribute("aria-valuetext", `${width()} pixels`);
  };
  const set = (wanted) => {
    const now = Math.max(LEAST, Math.min(most(), Math.round(wanted)));
    show(now);
    localStorage.setItem(`width-${name}`, now);
    tell();
  };
  const line = h("div", { class: "divider", role: "separator", tabindex: 0, "aria-orientation": "vertical", "aria-label": `Width of ${name}`, "aria-valuemin": LEAST, "aria-valuemax": most(), "aria-valuenow": LEAST, on: {
    pointerdown: (event) => {
      line.setPointerCapture(event.pointerId);
      const from = event.clientX - width();
      const drag = (moved) => set(moved.clientX - from);
      const over = new AbortController();
      line.addEventListener("pointermove", drag, { signal: over.signal });
      for (const end of ["pointerup", "pointercancel"]) line.addEventListener(end, () => over.abort(), { signal: over.signal });
      event.preventDefault();
    },
    keydown: (event) => {
      const step = event.shiftKey ? 100 : 20;
      const to = { ArrowLeft: width() - step, ArrowRight: width() + step, Home: LEAST, End: most() }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      set(to);
    },
  } });
  if (kept) show(Math.max(LEAST, kept));
  new ResizeObserver(tell).observe(pane);
  return line;
}
