// Two branches side by side: where they part, what was said on each side, what it cost, how the files differ.

import { get, path, query } from "./api.js";
import { files } from "./diff.js";
import { button, fill, h } from "./dom.js";
import { count, money, short } from "./format.js";
import { markdown } from "./markdown.js";
import { go, state } from "./state.js";

let latest = 0;

export async function show(content) {
  const mine = ++latest;
  fill(content, h("p", { class: "quiet" }, "Comparing…"));
  let body;
  try {
    body = describe(await get(query(path("sessions", state.s, "compare"), { entry: `#${state.a}`, with_entry: `#${state.b}` })));
  } catch (error) {
    body = h("p", { class: "stopped" }, error.message);
  }
  if (mine !== latest || state.page !== "compare") return;
  fill(content, h("header", { class: "page" }, h("h1", { tabindex: -1 }, "Compare"), button("Swap", () => go({ a: state.b, b: state.a })), button("Close", () => go({ page: "", a: "", b: "" }))), body);
  content.querySelector("h1").focus();
}

function describe(answer) {
  const side = (name, one) => h("th", { scope: "col" }, `${name} · entry ${state[name.toLowerCase()]}`, h("br"), h("span", { class: "quiet" },
    [count(one.messages, "message"), `${short(one.usage.input + one.usage.cache_read + one.usage.cache_write)} in, ${short(one.usage.output)} out`, money(one.cost_micros), one.snapshot ? `◆ ${one.snapshot}` : ""].filter(Boolean).join(" · ")));
  const cell = (one, isSame) => h("td", { class: isSame ? "same" : "" }, one ? [h("strong", {}, one.role), one.text === "" ? h("p", { class: "quiet" }, "calls tools") : one.role === "toolResult" ? h("pre", { class: "output" }, one.text.slice(0, 4000)) : markdown(one.text.slice(0, 20000))] : null);
  const delta = (answer.b.cost_micros ?? 0) - (answer.a.cost_micros ?? 0);
  return [
    h("p", {}, `${count(answer.shared_messages, "message")} are shared; behind them the branches part.`, answer.a.cost_micros !== null && answer.b.cost_micros !== null && delta !== 0 ? ` B cost ${money(Math.abs(delta))} ${delta > 0 ? "more" : "less"}.` : ""),
    h("table", { class: "sides" }, h("thead", {}, h("tr", {}, side("A", answer.a), side("B", answer.b))),
      h("tbody", {}, answer.messages.slice(0, 400).map((pair) => h("tr", {}, cell(pair.a, pair.same), cell(pair.b, pair.same))))),
    answer.messages.length > 400 ? h("p", { class: "quiet" }, `${answer.messages.length - 400} more are not shown.`) : null,
    h("h2", {}, "Files"), answer.files ? files(answer.files) : h("p", { class: "quiet" }, "Snapshots do not tell how the files differ."),
  ];
}
