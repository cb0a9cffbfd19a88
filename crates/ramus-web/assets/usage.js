// What answers used and cost: by day, model, project or session.

import { get, path, query } from "./api.js";
import { choice } from "./choice.js";
import { button, draw, fill, h, put } from "./dom.js";
import { count, money, short } from "./format.js";
import { enter, go, state } from "./state.js";

const BY = [["day", "Days"], ["model", "Models"], ["project", "Projects"], ["session", "Sessions"]];

/** How many rows are told. */
const MOST = 500;
/** How many days the drawing holds. */
const DAYS = 60;

let latest = 0;
let head = null;
let bar = null;

export async function show(content) {
  const mine = ++latest;
  bar ??= choice("What it is counted by", BY, (name) => go({ by: name }, { replace: true }), "by");
  head ??= h("header", { class: "page" }, h("h1", { tabindex: -1 }, "Usage and cost"), bar.element, button("Close", () => go({ page: "" })));
  bar.show(state.by);
  // Whoever chooses what it is counted by stays in the choice.
  const isNew = !content.contains(head);
  if (isNew) fill(content, head);
  const below = (...children) => {
    while (head.nextSibling) head.nextSibling.remove();
    put(content, children);
  };
  below(h("p", { class: "quiet" }, "Counting…"));
  if (isNew) head.querySelector("h1").focus();
  let body;
  try {
    body = describe(await get(query(path("usage"), { by: state.by })));
  } catch (error) {
    body = h("p", { class: "stopped" }, error.message);
  }
  if (mine === latest && state.page === "usage") below(body);
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
    isDay ? fitted(rows.slice().sort((a, b) => (a.key < b.key ? -1 : 1))) : null,
    h("div", { class: "scroll", role: "region", "aria-label": "Figures", tabindex: 0 }, h("table", { class: "figures" }, h("thead", {}, h("tr", {}, [BY.find(([name]) => name === state.by)?.[1] ?? "", "Cost", "Input", "Cached", "Output", "Answers"].map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, ordered.slice(0, MOST).map((row) => h("tr", {}, h("th", { scope: "row" }, name(row)),
        h("td", {}, money(row.cost_micros, row.unpriced), h("span", { class: "bar", style: { width: `${Math.round((60 * (row.cost_micros ?? 0)) / most)}px` } })),
        h("td", {}, short(row.input)), h("td", {}, short(row.cache_read + row.cache_write)), h("td", {}, short(row.output)), h("td", {}, String(row.answers))))))),
    ordered.length > MOST ? h("p", { class: "quiet" }, `${ordered.length - MOST} more are not shown.`) : null,
  ];
}

function name(row) {
  if (state.by !== "session") return row.key;
  return button(row.title || row.key, () => enter(row.key), { class: "plain" });
}

/** The drawing, as wide as there is room for it: what is written in it is as large as elsewhere. */
function fitted(days) {
  const place = h("div", { class: "chart" });
  let width = 0;
  new ResizeObserver(() => {
    if (place.clientWidth === width || place.clientWidth === 0) return;
    width = place.clientWidth;
    fill(place, chart(days, width));
  }).observe(place);
  return place;
}

/** Bars on the days of a calendar: a day without an answer is a gap. */
function chart(days, width) {
  const [height, left] = [120, 56];
  const at = (key) => Math.round(Date.parse(`${key}T00:00:00Z`) / 86400000);
  const last = at(days[days.length - 1].key);
  const shown = days.filter((day) => last - at(day.key) < DAYS);
  const first = Math.min(at(shown[0].key), last - 6);
  const step = (width - left) / (last - first + 1);
  const useCost = shown.some((day) => day.cost_micros > 0);
  const value = (day) => (useCost ? (day.cost_micros ?? 0) : day.input + day.output);
  const most = Math.max(...shown.map(value), 1);
  const tell = (amount) => (useCost ? money(amount) || "$0" : short(amount));
  const told = (day) => `${day.key}: ${useCost ? money(day.cost_micros, day.unpriced) || "$0" : `${short(day.input + day.output)} tokens`}`;
  const date = (day) => new Date(day * 86400000).toISOString().slice(0, 10);
  const line = (y, text) => [draw("line", { x1: left, x2: width, y1: y, y2: y }), draw("text", { x: left - 5, y: y + 3, "text-anchor": "end" }, text)];
  return draw("svg", { viewBox: `0 -8 ${width} ${height + 28}`, role: "img", "aria-label": `${useCost ? "Cost" : "Tokens"} by day: ${shown.map(told).join("; ")}` },
    line(0, tell(most)), line(height / 2, tell(most / 2)), line(height, useCost ? "$0" : "0"),
    shown.map((day) => {
      const tall = Math.max(1, (height * value(day)) / most);
      const wide = Math.max(1, Math.min(step - 2, 40));
      return draw("rect", { x: left + (at(day.key) - first) * step + (step - wide) / 2, y: height - tall, width: wide, height: tall }, draw("title", {}, told(day)));
    }),
    draw("text", { x: left, y: height + 16 }, date(first)), draw("text", { x: width, y: height + 16, "text-anchor": "end" }, date(last)));
}
