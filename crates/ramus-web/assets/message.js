// Entries as people read them: who spoke, what was said, which tools were called and what came of it.

import { h } from "./dom.js";
import { changed, money, short, time } from "./format.js";
import { markdown } from "./markdown.js";

/** Of longer results the start is shown. */
const LONGEST = 20000;

/** Pictures of these kinds are shown; none of them can hold a program. */
const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

const NAMES = { user: "You", assistant: "Model", toolResult: "Tool", system: "System", bashExecution: "Shell", compactionSummary: "Summary", branchSummary: "Summary" };

/** Shows entries in order. Results stand with the calls they answer. */
export function transcript(entries, selected) {
  const results = new Map();
  for (const entry of entries) if (entry.role === "toolResult" && entry.call_id) results.set(entry.call_id, entry);
  const calls = new Set(entries.flatMap((entry) => entry.parts ?? []).filter((part) => part.type === "tool_request").map((part) => part.call_id));
  const isShown = (entry) => !(entry.role === "toolResult" && calls.has(entry.call_id)) && !isPlumbing(entry);
  return entries.filter(isShown).map((entry) => message(entry, results, selected));
}

/** What only says what its neighbours show. */
function isPlumbing(entry) {
  return !entry.role && entry.type === "custom" && ["files", "custom"].includes(entry.speaker ?? "custom");
}

function message(entry, results, selected) {
  const name = NAMES[entry.role] ?? entry.role ?? entry.speaker ?? entry.type;
  const facts = [entry.model, entry.usage && entry.usage.output > 0 ? `${short(entry.usage.input + entry.usage.cache_read + entry.usage.cache_write)} in, ${short(entry.usage.output)} out` : null,
    entry.usage && entry.usage.output > 0 ? money(entry.cost_micros) : null].filter(Boolean);
  const head = h("header", {}, h("strong", {}, name), entry.label ? h("span", { class: "label" }, `⚑ ${entry.label}`) : null,
    h("span", { class: "facts" }, facts.join(" · ")), h("time", { datetime: entry.timestamp, title: time(entry.timestamp) }, time(entry.timestamp)));
  const body = entry.parts ? entry.parts.map((part) => show(part, entry, results)) : h("p", { class: "quiet" }, entry.preview || entry.type);
  return h("article", { class: `message ${entry.role ?? "other"}`, "data-seq": entry.seq, "aria-current": String(entry.seq) === String(selected) ? "true" : undefined },
    head, h("div", { class: "body" }, body, stopped(entry)));
}

function stopped(entry) {
  const reason = entry.stop_reason;
  if (!reason || ["stop", "toolUse", "end_turn"].includes(reason)) return null;
  return h("p", { class: "stopped" }, `× ${reason}`);
}

function show(part, entry, results) {
  if (part.type === "text") return entry.role === "toolResult" ? output(part.text) : markdown(part.text);
  if (part.type === "thinking") return h("details", { class: "thinking" }, h("summary", {}, "Thinking"), markdown(part.text));
  if (part.type === "image") return picture(part);
  if (part.type === "tool_request") return call(part, results.get(part.call_id));
  return h("pre", { class: "text" }, JSON.stringify(part.raw ?? part, null, 2));
}

function picture({ mime, data }) {
  if (!PICTURES.includes(mime) || typeof data !== "string" || !/^[A-Za-z0-9+/=\s]*$/.test(data)) return h("p", { class: "quiet" }, `[${mime}]`);
  return h("img", { class: "picture", alt: "A picture of this message", src: `data:${mime};base64,${data}` });
}

function call(part, result) {
  const given = part.arguments && typeof part.arguments === "object" ? part.arguments : { arguments: part.arguments };
  const what = given.command ?? given.path ?? given.pattern ?? given.url ?? Object.values(given).find((value) => typeof value === "string") ?? "";
  const mark = !result ? h("span", { class: "wait" }, "…") : result.error ? h("span", { class: "failed" }, "× failed") : h("span", { class: "done" }, "✓");
  return h("details", { class: "call", open: result?.error },
    h("summary", {}, h("code", { class: "name" }, part.name), " ", h("span", { class: "what" }, String(what).split("\n")[0].slice(0, 160)), " ",
      result?.changed ? h("span", { class: "changed" }, changed(result.changed)) : null, " ", mark),
    Object.entries(given).map(([name, value]) => h("div", { class: "argument" }, h("span", { class: "quiet" }, name),
      h("pre", {}, typeof value === "string" ? value : JSON.stringify(value, null, 2)))),
    result ? h("div", { class: "result" }, (result.parts ?? []).map((one) => (one.type === "text" ? output(one.text) : show(one, result, new Map())))) : null);
}

function output(text) {
  const isLong = text.length > LONGEST;
  return h("pre", { class: "output" }, isLong ? `${text.slice(0, LONGEST)}\n… ${(text.length - LONGEST).toLocaleString("en")} more characters` : text);
}
