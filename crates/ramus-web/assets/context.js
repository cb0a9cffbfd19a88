// The tab of the context: what a model would be sent at an entry, and which part of it takes how much.

import { get, path, query } from "./api.js";
import { fill, h } from "./dom.js";
import { count, short } from "./format.js";
import { state } from "./state.js";
import { open, targetOf } from "./tree.js";

/** How many of the last messages are told. */
const LAST = 100;

const PARTS = [["system", "System"], ["summary", "Summary"], ["user", "Prompts"], ["assistant", "Answers"], ["tool", "Tool output"], ["other", "Other"]];

let latest = 0;

export async function show(content, row) {
  const mine = ++latest;
  fill(content, h("p", { class: "quiet" }, "Building the context…"));
  let body;
  try {
    const answer = await get(query(path("sessions", open.id, "context"), { entry: `#${targetOf(row)}` }));
    body = describe(answer);
  } catch (error) {
    body = h("p", { class: "quiet" }, error.message);
  }
  if (mine === latest && state.tab === "context") fill(content, body);
}

function describe(answer) {
  const sizes = Object.fromEntries(PARTS.map(([name]) => [name, 0]));
  let all = 0;
  for (const message of answer.messages) {
    const size = JSON.stringify(message.content ?? message.summary ?? "").length;
    sizes[kindOf(message)] += size;
    all += size;
  }
  const tokens = (size) => Math.round((answer.tokens * size) / Math.max(all, 1));
  const used = PARTS.filter(([name]) => sizes[name] > 0);
  const models = Object.entries(answer.models ?? {}).map(([role, model]) => `${role}: ${typeof model === "string" ? model : JSON.stringify(model)}`);
  return [
    h("p", {}, h("strong", {}, `${short(answer.tokens)} tokens`), ` in ${count(answer.messages.length, "message")}`, answer.compacted_by ? "; what is older is summarised" : ""),
    h("div", { class: "tokens", role: "img", "aria-label": used.map(([name, text]) => `${text} about ${tokens(sizes[name])} tokens`).join(", ") },
      used.map(([name]) => h("span", { class: `part-${name}`, style: { "flex-grow": String(sizes[name]) } }))),
    h("ul", { class: "legend" }, used.map(([name, text]) => h("li", {}, h("span", { class: `swatch part-${name}` }), `${text} about ${short(tokens(sizes[name]))}`))),
    models.length > 0 ? h("p", { class: "quiet" }, models.join(", "), answer.thinking_level ? `; thinking ${answer.thinking_level}` : "") : null,
    answer.messages.length > LAST ? h("p", { class: "quiet" }, `The last ${LAST} messages:`) : null,
    h("ol", { class: "sent", start: Math.max(1, answer.messages.length - LAST + 1) }, answer.messages.slice(-LAST).map((message) => h("li", { class: `of-${kindOf(message)}` }, h("details", {},
      h("summary", {}, h("strong", {}, message.role), " ", brief(message)), h("pre", { class: "output" }, JSON.stringify(message, null, 2)))))),
  ];
}

function kindOf({ role }) {
  if (role === "user" || role === "assistant" || role === "system") return role;
  if (role === "toolResult" || role === "bashExecution") return "tool";
  return role === "compactionSummary" || role === "branchSummary" ? "summary" : "other";
}

function brief({ content, summary }) {
  const text = typeof content === "string" ? content : Array.isArray(content) ? content.map((part) => part.text ?? part.thinking ?? part.name ?? "").join(" ") : (summary ?? "");
  return String(text).slice(0, 160);
}
