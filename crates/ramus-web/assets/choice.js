// One of several: a group in which one thing is chosen, by pressing it or with the arrows.

import { button, h } from "./dom.js";

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** Makes a group of `[name, text]`. `show(name)` marks what is chosen; what is in focus stays so. */
export function choice(label, options, choose, kind) {
  const names = options.map(([name]) => name);
  const made = options.map(([name, text]) => button(text, () => choose(name), { role: "radio", [`data-${kind}`]: name }));
  const move = (event) => {
    const at = made.indexOf(event.target);
    if (!STEPS[event.key] || at < 0) return;
    event.preventDefault();
    event.stopPropagation();
    const next = (at + STEPS[event.key] + made.length) % made.length;
    made[next].focus();
    choose(names[next]);
  };
  const show = (chosen) => made.forEach((one, at) => {
    one.setAttribute("aria-checked", names[at] === chosen);
    one.tabIndex = names[at] === chosen ? 0 : -1;
  });
  return { element: h("div", { class: "segments", role: "radiogroup", "aria-label": label, on: { keydown: move } }, made), show };
}
