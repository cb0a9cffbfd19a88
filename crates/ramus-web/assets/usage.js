// What answers used and cost: by day, model, project or session.

import { get, path, query } from "./api.js";
import { button, draw, fill, h } from "./dom.js";
import { count, money, short } from "./format.js";
import { go, state } from "./state.js";

const BY = [["day", "Days"], ["model", "Models"], ["project", "Projects"], ["session", "Sessions"]];

/** How many rows are told. */
const MOST = 500;
/** How many days the drawing holds. */
const DAYS = 60;

let latest = 0;

export async function show(content) {
  const mine = ++latest;
  const bar = h("div", { class: "segments", role: "radiogroup", "aria-label": "What it is counted by" },
    BY.map(([name, text]) => button(text, () => go({ by: name }, { replace: true }), { role: "radio", "aria-checked": state.by === name })));
  const head = h("header", { class: "page" }, h("h1", { tabindex: -1 }, "Usage and cost"), bar, button("Close", () => go({ page: "" })));
  fill(content, head, h("p", { class: "quiet" }, "Counting…"));
  let body;
  try {
    body = describe(await get(query(path("usage"), { by: state.by })));
  } catch (error) {
    body = h("p", { class: "stopped" }, error.message);
  }
  if (mine === latest && state.page === "usage") fill(content, head, body);
}

function describe({ rows, total, prices_as_of: prices }) {
  if (rows.length === 0) return h("p", { class: "quiet" }, "No model has answered yet.");
  const tokens = (row) => row.input + row.output + row.cache_read + row.cache_write;
  const most = Math.max(...rows.map((row) => row.cost_micros ?? 0), 1);
  const isDay = state.by === "day";
  const ordered = isDay ? [...rows].sort((a, b) => (a.key < b.key ? 1 : -1)) : rows;
  return [
    h("p", {}, h("strong", {}, money(total.cost_micros, total.unpriced) || "$0"), ` for ${short(tokens(total))} tokens in ${count(total.answers, "answer")} of ${count(total.sessions, "session")}`,
      total.unpriced ? `; the price of ${count(total.unpriced, "answer")} is not known` : "", prices ? h("span", { class: "quiet" }, ` (prices of ${prices})`) : null),
    isDay ? chart(rows.slice().sort((a, b) => (a.key < b.key ? -1 : 1)).slice(-DAYS)) : null,
    h("table", { class: "figures" }, h("thead", {}, h("tr", {}, [BY.find(([name]) => name === state.by)?.[1] ?? "", "Cost", "Input", "Cached", "Output", "Answers"].map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, ordered.slice(0, MOST).map((row) => h("tr", {}, h("th", { scope: "row" }, name(row)),
        h("td", {}, h("span", { class: "bar", style: { width: `${Math.round((60 * (row.cost_micros ?? 0)) / most)}px` } }), money(row.cost_micros, row.unpriced)),
        h("td", {}, short(row.input)), h("td", {}, short(row.cache_read + row.cache_write)), h("td", {}, short(row.output)), h("td", {}, String(row.answers)))))),
    ordered.length > MOST ? h("p", { class: "quiet" }, `${ordered.length - MOST} more are not shown.`) : null,
  ];
}

function name(row) {
  if (state.by !== "session") return row.key;
  return button(row.title || row.key, () => go({ s: row.key, e: "", page: "" }), { class: "plain" });
}

/** Bars, one for each day. */
function chart(days) {
  const width = 640;
  const height = 120;
  const step = width / Math.max(days.length, 1);
  const useCost = days.some((day) => day.cost_micros > 0);
  const value = (day) => (useCost ? (day.cost_micros ?? 0) : day.input + day.output);
  const most = Math.max(...days.map(value), 1);
  const told = (day) => `${day.key}: ${useCost ? money(day.cost_micros, day.unpriced) : `${short(day.input + day.output)} tokens`}`;
  return draw("svg", { class: "chart", viewBox: `0 0 ${width} ${height + 16}`, role: "img", "aria-label": `${useCost ? "Cost" : "Tokens"} by day: ${days.map(told).join("; ")}` },
    days.map((day, at) => {
      const tall = Math.max(1, (height * value(day)) / most);
      return draw("rect", { x: at * step + 1, y: height - tall, width: Math.max(1, Math.min(step - 2, 40)), height: tall }, draw("title", {}, told(day)));
    }),
    draw("text", { x: 0, y: height + 13 }, days[0]?.key ?? ""), draw("text", { x: width, y: height + 13, "text-anchor": "end" }, days[days.length - 1]?.key ?? ""));
}
