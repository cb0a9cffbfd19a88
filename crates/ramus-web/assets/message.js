// Entries as people read them: who spoke, what was said, which tools were called and what came of it.

import { unified } from "./diff.js";
import { h } from "./dom.js";
import { changed, money, short, span, speaker, time, when } from "./format.js";
import { refold } from "./keep.js";
import { childLinks, startedBy } from "./kin.js";
import { markdown } from "./markdown.js";

/** Of longer results the start is shown. */
const LONGEST = 20000;

/** Pictures of these kinds are shown; none of them can hold a program. */
const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/**
 * Shows entries in order. Results stand with the calls they answer. `known` holds what was shown before, by position: what
 * tells the same is shown as it is, what tells more is unfolded as it was.
 */
export function transcript(entries, selected, known = new Map()) {
  const results = new Map();
  for (const entry of entries) if (entry.role === "toolResult" && entry.call_id) results.set(entry.call_id, entry);
  const calls = new Set(entries.flatMap((entry) => entry.parts ?? []).filter((part) => part.type === "tool_request").map((part) => part.call_id));
  const isShown = (entry) => !(entry.role === "toolResult" && calls.has(entry.call_id)) && !isPlumbing(entry);
  const shown = entries.filter(isShown).map((entry) => [entry.seq, again(known.get(entry.seq), entry, results, selected)]);
  known.clear();
  for (const [seq, one] of shown) known.set(seq, one);
  return shown.map(([, one]) => one.element);
}

function again(old, entry, results, selected) {
  const answers = (entry.parts ?? []).map((part) => (part.type === "tool_request" ? results.get(part.call_id)?.seq : undefined));
  const started = (entry.parts ?? []).flatMap((part) => startedBy(part.arguments ?? {})).map((child) => child.id);
  const name = [entry.label, isIt(entry, selected), ...started, ...answers.map((seq) => `${seq}${isIt({ seq }, selected)}`)].join(" ");
  if (old?.name === name) return old;
  const element = message(entry, results, selected);
  if (old) refold(old.element, element);
  for (const one of element.querySelectorAll("details[aria-current]")) one.open = true;
  return { name, element };
}

const isIt = (entry, selected) => String(entry?.seq) === String(selected);
const current = (entry, selected) => (isIt(entry, selected) ? "true" : undefined);

/** What only says what its neighbours show. */
function isPlumbing(entry) {
  return !entry.role && entry.type === "custom" && ["files", "custom"].includes(entry.speaker ?? "custom");
}

function message(entry, results, selected) {
  const name = speaker(entry.role) ?? entry.speaker ?? entry.type;
  const facts = [entry.model, entry.usage && entry.usage.output > 0 ? `${short(entry.usage.input + entry.usage.cache_read + entry.usage.cache_write)} in, ${short(entry.usage.output)} out` : null,
    entry.usage && entry.usage.output > 0 ? money(entry.cost_micros) : null].filter(Boolean);
  const head = h("header", {}, h("strong", {}, name), entry.label ? h("span", { class: "label" }, `⚑ ${entry.label}`) : null,
    h("span", { class: "facts" }, facts.join(" · ")), h("time", { datetime: entry.timestamp, title: time(entry.timestamp) }, when(entry.timestamp)));
  const body = entry.parts ? entry.parts.map((part, at) => show(part, entry, { at, results, selected })) : h("p", { class: "quiet" }, entry.preview || entry.type);
  return h("article", { class: `message ${entry.role ?? "other"}`, "data-seq": entry.seq, "aria-current": current(entry, selected) },
    head, h("div", { class: "body" }, body, stopped(entry)));
}

function stopped(entry) {
  const reason = entry.stop_reason;
  if (!reason || ["stop", "toolUse", "end_turn"].includes(reason)) return null;
  return h("p", { class: "stopped" }, `× ${reason}`);
}

function show(part, entry, { at = 0, results, selected }) {
  if (part.type === "text") return entry.role === "toolResult" ? output(part.text) : markdown(part.text);
  if (part.type === "thinking") return h("details", { class: "thinking", "data-fold": `thinking ${at}` }, h("summary", {}, "Thinking"), markdown(part.text));
  if (part.type === "image") return picture(part);
  if (part.type === "tool_request") return call(part, results?.get(part.call_id), { selected, since: entry.timestamp });
  return h("pre", { class: "text" }, JSON.stringify(part.raw ?? part, null, 2));
}

function picture({ mime, data }) {
  if (!PICTURES.includes(mime) || typeof data !== "string" || !/^[A-Za-z0-9+/=\s]*$/.test(data)) return h("p", { class: "quiet" }, `[${mime}]`);
  return h("img", { class: "picture", alt: "A picture of this message", src: `data:${mime};base64,${data}` });
}

/** A call is unfolded when it failed, and when what is looked for came of it. */
function call(part, result, { selected, since }) {
  const given = part.arguments && typeof part.arguments === "object" ? part.arguments : { arguments: part.arguments };
  const what = FIRST.map((name) => given[name]).find((value) => typeof value === "string") ?? Object.values(given).find((value) => typeof value === "string") ?? "";
  const mark = !result ? h("span", { class: "wait" }, "…") : result.error ? h("span", { class: "failed" }, "× failed") : h("span", { class: "done" }, "✓");
  const fold = `call ${part.call_id}${result?.error ? " failed" : ""}`;
  return h("details", { class: "call", open: result?.error, "data-fold": fold, "data-seq": result?.seq, "aria-current": result ? current(result, selected) : undefined },
    h("summary", {}, h("code", { class: "name" }, part.name), " ", h("span", { class: "what" }, String(what).split("\n")[0].slice(0, 160)), " ",
      result?.changed ? h("span", { class: "changed" }, changed(result.changed)) : null, " ", mark, took(since, result?.timestamp)),
    childLinks(startedBy(given)),
    given === part.arguments ? differences(given) : null,
    inOrder(given).filter(([name]) => !isInDifference(name, given)).map(([name, value]) => h("div", { class: "argument" }, h("span", { class: "quiet" }, name),
      h("pre", {}, typeof value === "string" ? value : JSON.stringify(value, null, 2)))),
    result ? h("div", { class: "result" }, (result.parts ?? []).map((one) => (one.type === "text" ? output(one.text) : show(one, result, {})))) : null);
}

/** How long it took until there was a result, waiting for an answer to a question included. */
function took(since, until) {
  const milliseconds = Date.parse(until) - Date.parse(since);
  return milliseconds >= 0 ? h("span", { class: "quiet took", title: "from the call to its result" }, ` ${span(milliseconds)}`) : null;
}

/** What agents call the text that an edit takes out, and the one that it puts there. */
const EDITS = [["old", "new"], ["old_string", "new_string"], ["oldText", "newText"], ["oldString", "newString"]];

/** What a call is about comes before what it says. */
const FIRST = ["command", "path", "file_path", "pattern", "url"];
const inOrder = (given) => Object.entries(given).sort(([a], [b]) => FIRST.includes(b) - FIRST.includes(a));

const editOf = (given) => EDITS.find(([old, now]) => typeof given[old] === "string" && typeof given[now] === "string");
const isInDifference = (name, given) => editOf(given)?.includes(name) ?? false;

/** Returns what an edit changes, as the lines of a difference, and the names of the arguments that say so. */
export function edited(given, { most }) {
  const names = editOf(given);
  if (!names) return null;
  const [old, now] = names.map((name) => given[name].slice(0, most).split("\n"));
  let [start, end] = [0, 0];
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  while (end < old.length - start && end < now.length - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  const lines = [...old.slice(0, start).map((line) => ` ${line}`), ...old.slice(start, old.length - end).map((line) => `-${line}`),
    ...now.slice(start, now.length - end).map((line) => `+${line}`), ...old.slice(old.length - end).map((line) => ` ${line}`)];
  return { names, lines };
}

/** Shows an edit as what it changes. */
function differences(given) {
  const edit = edited(given, { most: LONGEST });
  return edit ? h("div", { class: "argument edit" }, unified(`@@ -1 +1 @@\n${edit.lines.join("\n")}\n`, { isNumbered: false })) : null;
}

function output(text) {
  const isLong = text.length > LONGEST;
  return h("pre", { class: "output" }, isLong ? `${text.slice(0, LONGEST)}\n… ${(text.length - LONGEST).toLocaleString("en")} more characters` : text);
}
