// Showing something again: what did not change is not touched, so that focus, folds, marked text and scrolling stay as they are.

import { fill } from "./dom.js";

/** Puts children in the place of those that were there. Those that are in both stay where they are. */
export function keep(element, ...children) {
  const wanted = children.flat(Infinity).filter(Boolean);
  const stays = new Set(wanted);
  for (const child of [...element.childNodes]) if (!stays.has(child)) child.remove();
  wanted.forEach((child, at) => element.childNodes[at] !== child && element.insertBefore(child, element.childNodes[at] ?? null));
  return element;
}

/** Fills an element if that changes what it shows. */
export function renew(element, ...children) {
  const made = fill(element.cloneNode(false), ...children);
  if (!made.isEqualNode(element)) element.replaceChildren(...made.childNodes);
  return element;
}

/** Opens what was open. Things that fold are known by `data-fold`. */
export function refold(before, now) {
  const was = new Map([...before.querySelectorAll("details[data-fold]")].map((one) => [one.dataset.fold, one.open]));
  for (const one of now.querySelectorAll("details[data-fold]")) if (was.has(one.dataset.fold)) one.open = was.get(one.dataset.fold);
  return now;
}
