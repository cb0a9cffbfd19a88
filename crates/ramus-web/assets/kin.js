// The sessions that one came from and those it started: where they are told of, they can be opened.

import { get, path, query } from "./api.js";
import { attempt, open as openDialog } from "./dialog.js";
import { button, h } from "./dom.js";
import { called, count, money } from "./format.js";
import { live } from "./live.js";
import { known } from "./sessions.js";
import { enter, go } from "./state.js";

/** How many of those that a session started are named at once. */
const MOST = 3;

/** The lines that lead from the session that is open to others. */
export function relatives() {
  const { info, children } = live;
  const lines = [];
  if (info.parent) lines.push(["A subagent of ", link(info.parent)]);
  if (info.forked_from) lines.push(["A fork of ", link(info.forked_from.session, info.forked_from.entry)]);
  if (children.length > 0) lines.push([`Started ${count(children.length, "subagent")}: `, ...children.slice(0, MOST).map((one, at) => [at > 0 ? ", " : "", link(one.id)]),
    children.length > MOST ? [", ", button("all of them", () => all(children), { class: "plain" })] : null]);
  return lines.map((line) => h("p", { class: "quiet kin" }, line));
}

/** A button that opens another session: where it goes on, or where one was forked from it. */
function link(id, entry) {
  const title = live.titles.get(id) ?? known(id)?.title;
  return button(called(title), () => (entry ? attempt(() => at(id, entry)) : enter(id)), { class: "plain", title: id });
}

async function at(id, entry) {
  const { rows } = await get(query(path("sessions", id, "rows"), { entry }));
  go({ s: id, e: rows[0]?.seq ?? "", page: "", tab: "message" });
}

function all(children) {
  const close = openDialog("Subagents", h("ul", { class: "plain" }, children.map((one) => h("li", {}, button(called(one.title), () => {
    close();
    enter(one.id);
  }, { class: "plain" }), h("span", { class: "quiet" }, ` ${[count(one.messages, "message"), money(one.cost_micros, one.unpriced)].filter(Boolean).join(" · ")}`)))));
}

/** The sessions that a call started: they are called what the call says of its work. */
export function startedBy(given) {
  const { description } = given;
  if (typeof description !== "string" || description.trim() === "") return [];
  const title = description.split(/\s+/).filter(Boolean).join(" ");
  return live.children.filter((one) => one.title && title.startsWith(one.title));
}

/** Leads to sessions that a call started. */
export function childLinks(children) {
  if (children.length === 0) return null;
  return h("p", { class: "kin" }, "↳ ", children.map((one, at) => [at > 0 ? ", " : "", button(`Open the subagent: ${called(one.title)}`, () => enter(one.id), { class: "plain" })]));
}
