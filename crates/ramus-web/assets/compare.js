// Two branches side by side: where they part, what was said on each side, what it cost, how the files differ.

import { get, path, query } from "./api.js";
import { attempt } from "./dialog.js";
import { files } from "./diff.js";
import { button, fill, h } from "./dom.js";
import { count, money, plain, short, span, speaker } from "./format.js";
import { markdown } from "./markdown.js";
import { mergeBack } from "./merge.js";
import { go, state } from "./state.js";
import { open, ready } from "./tree.js";

let latest = 0;

export async function show(content) {
  const mine = ++latest;
  fill(content, h("p", { class: "quiet" }, "Comparing…"));
  let body;
  try {
    const compared = get(query(path("sessions", state.s, "compare"), { entry: state.a ? `#${state.a}` : null, with: state.with || null, with_entry: state.b ? `#${state.b}` : null }));
    // The tree tells which side the session is on.
    [body] = [describe(await compared), state.with || (await ready())];
  } catch (error) {
    body = h("p", { class: "stopped" }, error.message);
  }
  if (mine !== latest || state.page !== "compare") return;
  fill(content, h("header", { class: "page" }, h("h1", { tabindex: -1 }, "Compare"), !state.with && other() ? button("Bring back…", () => attempt(() => mergeBack(other())), { title: "Tell the branch that the session is on what came of the other one" }) : null, button("Swap", () => go({ ...(state.with ? { s: state.with, with: state.s, e: "" } : {}), a: state.b, b: state.a })), button("Close", () => go({ page: "", a: "", b: "", with: "" }))), body);
  content.querySelector("h1").focus();
}

/** The side that the session is not on; none when it is on both or on neither. */
function other() {
  const { made } = open;
  const isOn = (side) => made?.onPath[made.at.get(Number(state[side]))] === 1 || made?.leafSeq === Number(state[side]);
  if (isOn("a") === isOn("b")) return null;
  return isOn("a") ? state.b : state.a;
}

/** How many tokens a side used, read and written. */
const tokens = ({ usage }) => usage.input + usage.cache_read + usage.cache_write + usage.output;

/** How long a side took, from where the branches part to its last message; null when its messages do not tell. */
function took(messages, name) {
  const times = messages.map((pair) => Date.parse(pair[name]?.timestamp)).filter(Number.isFinite);
  return times.length > 0 ? Math.max(0, times[times.length - 1] - times[0]) : null;
}

/** What B cost, took and used beside A; nothing of what is the same or not known. */
function deltas({ a, b, messages }) {
  const delta = (text, less, more) => (less === null || more === null || less === more ? null : `${text(Math.abs(more - less))} ${more > less ? "more" : "less"}`);
  const cost = delta(money, a.cost_micros, b.cost_micros);
  const time = delta(span, took(messages, "a"), took(messages, "b"));
  const used = delta((number) => `${short(number)} tokens`, tokens(a), tokens(b));
  const told = [cost && `cost ${cost}`, time && `took ${time}`, used && `used ${used}`].filter(Boolean);
  return told.length > 0 ? ` B ${told.join(", ")}.` : "";
}

/** What a side is called: by its label, or by the last prompt that is not of both. */
const named = (one) => (one.label ? `⚑ ${one.label}` : one.prompt ? plain(one.prompt).slice(0, 80) : one.messages === 0 ? "where the branches part" : one.title || "Untitled");

/** What a message says, and what it calls with which arguments. */
function said(one) {
  if (one.role === "toolResult") return h("pre", { class: "output" }, one.text.slice(0, 4000));
  return [one.text === "" ? null : markdown(one.text.slice(0, 20000)), one.calls.map((call) => h("pre", { class: "called" }, `${call.name} ${call.arguments.slice(0, 4000)}`))];
}

function describe(answer) {
  const side = (name, one) => h("th", { scope: "col" }, `${name} · ${named(one)}`, h("br"), h("span", { class: "quiet" },
    [state.with ? one.title || "Untitled" : "", count(one.messages, "message"), `${short(one.usage.input + one.usage.cache_read + one.usage.cache_write)} in, ${short(one.usage.output)} out`, money(one.cost_micros, one.unpriced), one.snapshot ? `◆ ${one.snapshot}` : ""].filter(Boolean).join(" · ")));
  const cell = (one, isSame) => h("td", { class: isSame ? "same" : "" }, one ? [h("strong", {}, speaker(one.role)), one.name ? [" ", h("code", {}, one.name), one.error ? h("span", { class: "failed" }, " failed") : null] : null, said(one)] : null);
  return [
    h("p", {}, `${count(answer.shared_messages, "message")} are shared; behind them the branches part.`, deltas(answer)),
    h("table", { class: "sides" }, h("thead", {}, h("tr", {}, side("A", answer.a), side("B", answer.b))),
      h("tbody", {}, answer.messages.slice(0, 400).map((pair) => h("tr", {}, cell(pair.a, pair.same), cell(pair.b, pair.same))))),
    answer.messages.length > 400 ? h("p", { class: "quiet" }, `${answer.messages.length - 400} more are not shown.`) : null,
    h("h2", {}, "Files"), answer.files ? files(answer.files) : h("p", { class: "quiet" }, "Snapshots do not tell how the files differ."),
  ];
}
