// The tab of the context: what a model would be sent at an entry, and which part of it takes how much.

import { get, path, query } from "./api.js";
import { fill, h } from "./dom.js";
import { count, short, speaker } from "./format.js";
import { refold } from "./keep.js";
import { open, targetOf } from "./tree.js";

/** How many of the last messages are told. */
const LAST = 100;

/** What the server counts, what it is called, and how it is drawn. */
const PARTS = [["besides", "Instructions and tools", "besides"], ["system", "System", "system"], ["summary", "Summary", "summary"], ["prompts", "Prompts", "user"], ["answers", "Answers", "assistant"],
  ["tool_output", "Tool output", "tool"], ["other", "Other", "other"]];

export async function show(content, row, { isAgain, isWanted }) {
  if (!isAgain) fill(content, h("p", { class: "quiet" }, "Building the context…"));
  let body;
  try {
    const answer = await get(query(path("sessions", open.id, "context"), { entry: `#${targetOf(row)}`, dialect: "provider" }));
    body = describe(answer);
  } catch (error) {
    body = h("p", { class: "quiet" }, error.message);
  }
  if (!isWanted()) return;
  const { scrollTop } = content;
  const made = refold(content, h("div", {}, body));
  content.replaceChildren(...made.childNodes);
  content.scrollTop = isAgain ? scrollTop : 0;
}

function describe(answer) {
  const used = PARTS.filter(([name]) => answer.parts[name] > 0);
  const size = (name) => short(answer.parts[name]);
  const models = Object.entries(answer.models ?? {}).map(([role, model]) => `${role}: ${typeof model === "string" ? model : JSON.stringify(model)}`);
  return [
    h("p", {}, h("strong", {}, `${short(answer.tokens)} tokens`), ` in ${count(answer.messages.length, "message")}`, answer.compacted_by ? "; what is older is summarised" : ""),
    h("div", { class: "tokens", role: "img", "aria-label": used.map(([name, text]) => `${text} about ${answer.parts[name]} tokens`).join(", ") },
      used.map(([name, , kind]) => h("span", { class: `part-${kind}`, style: { "flex-grow": String(answer.parts[name]) } }))),
    h("ul", { class: "legend" }, used.map(([name, text, kind]) => h("li", {}, h("span", { class: `swatch part-${kind}` }), `${text} about ${size(name)}`))),
    models.length > 0 ? h("p", { class: "quiet" }, models.join(", "), answer.thinking_level ? `; thinking ${answer.thinking_level}` : "") : null,
    answer.messages.length > LAST ? h("p", { class: "quiet" }, `The last ${LAST} messages:`) : null,
    h("ol", { class: "sent", start: Math.max(1, answer.messages.length - LAST + 1) }, answer.messages.slice(-LAST).map((message, at) => h("li", { class: `of-${kindOf(message)}` }, h("details", { "data-fold": `sent ${at + Math.max(0, answer.messages.length - LAST)}` },
      h("summary", {}, h("strong", {}, speaker(message.role)), h("span", { class: "quiet" }, ` ${short(tokensOf(answer, at))} `), brief(message)), h("pre", { class: "output" }, JSON.stringify(message, null, 2)))))),
  ];
}

/** The tokens of one of the last messages. */
const tokensOf = (answer, at) => answer.message_tokens[at + Math.max(0, answer.messages.length - LAST)] ?? 0;

function kindOf({ role }) {
  if (role === "user" || role === "assistant" || role === "system") return role;
  if (role === "toolResult" || role === "bashExecution") return "tool";
  return role === "compactionSummary" || role === "branchSummary" ? "summary" : "other";
}

function brief({ content, summary }) {
  const text = typeof content === "string" ? content : Array.isArray(content) ? content.map((part) => part.text ?? part.thinking ?? part.name ?? "").join(" ") : (summary ?? "");
  return String(text).slice(0, 160);
}
