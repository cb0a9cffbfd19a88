// The tab of what is stored: the line of the log, spelled out and as it is.

import { path, stored } from "./api.js";
import { fill, h } from "./dom.js";
import { state } from "./state.js";
import { open } from "./tree.js";

const LONGEST = 500000;

let latest = 0;

export async function show(content) {
  const mine = ++latest;
  let body;
  try {
    const line = await stored(path("sessions", open.id, "entries", `#${state.e}`));
    body = [h("p", { class: "quiet" }, `Entry ${state.e} of the log, ${line.length.toLocaleString("en")} characters`), h("pre", { class: "output raw", tabindex: 0 }, spelled(line)),
      h("details", {}, h("summary", {}, "As it is stored"), h("pre", { class: "output" }, line.slice(0, LONGEST)))];
  } catch (error) {
    body = h("p", { class: "quiet" }, error.message);
  }
  if (mine === latest && state.tab === "raw") fill(content, body);
}

function spelled(line) {
  try {
    return JSON.stringify(JSON.parse(line), null, 2).slice(0, LONGEST);
  } catch {
    return line.slice(0, LONGEST);
  }
}
