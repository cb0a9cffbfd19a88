// Which models there are, and how much each can be sent. Asked once; a page without the answer only tells less.

import { get, path } from "./api.js";

let asked = null;
let known = [];

/** Reads the models and calls `act` when they are known. */
export function models(act) {
  asked ??= get(path("models")).then((answer) => (known = answer.models), () => {});
  asked.then(() => act(known));
}

/** How many tokens a model can be sent; null when nobody knows. */
export function windowOf(name) {
  return known.find((model) => `${model.provider}/${model.name}` === name)?.window ?? null;
}
