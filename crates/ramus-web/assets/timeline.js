// Where time and money went: the turns of the path, each with how long it took and what it cost.

import { get, path, query } from "./api.js";
import { button, fill, h } from "./dom.js";
import { count, money, plain, short, span, time } from "./format.js";
import { layout } from "./rows.js";
import { go, state } from "./state.js";
import { ready } from "./tree.js";

/** How many of the last turns are told, and how many are asked for at a time. */
const MOST = 480;
const BATCH = 120;

const COLUMNS = [["took", "Time"], ["cost", "Cost"], ["tokens", "Tokens"]];

let latest = 0;

export async function show(content) {
  const mine = ++latest;
  const head = h("header", { class: "page" }, h("h1", { tabindex: -1 }, "Timeline"), button("Close", () => go({ page: "" })));
  fill(content, head, h("p", { class: "quiet" }, "Counting…"));
  let body;
  try {
    const { made, id } = await ready();
    const turns = layout(made, "user").rows.filter((row) => made.onPath[row.i]);
    body = describe(await read(id, turns.slice(-MOST)), turns.length);
  } catch (error) {
    body = h("p", { class: "stopped" }, error.message);
  }
  if (mine !== latest || state.page !== "timeline") return;
  fill(content, head, body);
  content.querySelector("h1").focus();
}

async function read(id, turns) {
  const found = [];
  for (let at = 0; at < turns.length; at += BATCH) {
    const some = turns.slice(at, at + BATCH);
    const asked = some.map((row) => (row.end > row.seq ? `${row.seq}-${row.end}` : row.seq)).join(",");
    const { rows } = await get(query(path("sessions", id, "rows"), { at: asked }));
    found.push(...rows);
  }
  return found.map((row) => ({ ...row, took: row.turn?.ended ? Math.max(0, Date.parse(row.turn.ended) - Date.parse(row.timestamp)) : 0,
    cost: row.turn?.cost_micros ?? 0, tokens: row.turn?.tokens ?? 0 }));
}

const TELL = { took: (row) => span(row.took), cost: (row) => money(row.cost, row.turn?.unpriced), tokens: (row) => short(row.tokens) };

function describe(rows, all) {
  if (rows.length === 0) return h("p", { class: "quiet" }, "Nothing was said yet.");
  const sum = (name) => rows.reduce((total, row) => total + row[name], 0);
  const most = (name) => Math.max(...rows.map((row) => row[name]), 1);
  const bar = (name, row) => h("td", {}, h("span", { class: "bar", style: { width: `${Math.round((90 * row[name]) / most(name))}px` } }), TELL[name](row));
  return [
    h("p", {}, `${count(rows.length, "turn")}${rows.length < all ? ` of ${all.toLocaleString("en")}, the newest` : ""}: `, h("strong", {}, span(sum("took"))), ", ",
      h("strong", {}, money(sum("cost")) || "no known cost"), `, ${short(sum("tokens"))} tokens`),
    h("table", { class: "figures timeline" }, h("thead", {}, h("tr", {}, ["Turn", ...COLUMNS.map(([, text]) => text), "Tools", "Started"].map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, h("th", { scope: "row" }, button(plain(row.preview).slice(0, 90) || "…", () => go({ e: row.seq, page: "", tab: "message" }), { class: "plain" })),
        COLUMNS.map(([name]) => bar(name, row)), h("td", {}, String(row.turn?.tools ?? 0)), h("td", {}, time(row.timestamp)))))),
  ];
}
