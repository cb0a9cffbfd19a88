// The tab of what is stored: the line of the log, spelled out and as it is.

import { path, stored } from "./api.js";
import { fill, h } from "./dom.js";
import { live } from "./live.js";
import { state } from "./state.js";
import { open } from "./tree.js";

const LONGEST = 500000;

export async function show(content, row, { isWanted }) {
  let body;
  try {
    const line = await stored(path("sessions", open.id, "entries", `#${state.e}`));
    body = [h("p", { class: "quiet" }, `Entry ${state.e} of the log, ${line.length.toLocaleString("en")} characters`), origin(line), h("pre", { class: "output raw", tabindex: 0 }, spelled(line)),
      h("details", {}, h("summary", {}, "As it is stored"), h("pre", { class: "output" }, line.slice(0, LONGEST)))];
  } catch (error) {
    body = h("p", { class: "quiet" }, error.message);
  }
  if (!isWanted()) return;
  fill(content, body);
  content.scrollTop = 0;
}

/** Where the records stood that an imported entry was made of. */
function origin(line) {
  const { agent, records } = parsed(line)?.ramusOrigin ?? {};
  if (!agent || !Array.isArray(records) || records.length === 0) return null;
  const file = live.info?.imported_from?.file ?? "";
  const places = [...new Set(records.map((one) => `${one.file ?? file}:${one.line}`))];
  return h("p", { class: "quiet origin" }, `Imported from ${agent}: `, places.map((place, at) => [at > 0 ? ", " : null, h("code", {}, place)]));
}

function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

function spelled(line) {
  const value = parsed(line);
  return (value === null ? line : JSON.stringify(value, null, 2)).slice(0, LONGEST);
}
