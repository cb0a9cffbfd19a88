// The palette: type what is looked for. Commands, sessions by title, and everything that was said.

import { act, ACTIONS } from "./actions.js";
import { get, path, query } from "./api.js";
import { attempt, open as openDialog } from "./dialog.js";
import { afterwards, fill, h } from "./dom.js";
import { ago } from "./format.js";
import { go, state } from "./state.js";

const HITS = 30;

/** Opens the palette. `here` searches only the session that is open. */
export function palette({ here = false } = {}) {
  let items = [];
  let at = 0;
  let asked = 0;
  const field = h("input", { type: "text", id: "palette", role: "combobox", "aria-expanded": "true", "aria-controls": "found", "aria-autocomplete": "list",
    "aria-label": here ? "Find in this session" : "Search or jump", placeholder: here ? "Find in this session" : "Search everything, or type a command" });
  const found = h("ul", { id: "found", class: "found", role: "listbox", "aria-label": "Results" });
  const told = h("p", { class: "quiet", role: "status" });
  const close = openDialog(here ? "Find" : "Search or jump", [field, found, told], { wide: true });
  const show = () => {
    fill(found, items.map((item, n) => h("li", { id: `found-${n}`, role: "option", "aria-selected": n === at, on: { click: () => choose(n) } }, item.show())));
    if (items[at]) field.setAttribute("aria-activedescendant", `found-${at}`);
    else field.removeAttribute("aria-activedescendant");
    found.children[at]?.scrollIntoView({ block: "nearest" });
  };
  const choose = (n) => {
    const item = items[n];
    if (!item) return;
    close();
    item.run();
  };
  const look = async () => {
    const text = field.value.trim();
    const mine = ++asked;
    const commands = here ? [] : ACTIONS.filter((one) => text && `${one.name} ${one.text}`.toLowerCase().includes(text.toLowerCase())).slice(0, 6).map(command);
    let sessions = [];
    let hits = [];
    told.textContent = "";
    try {
      const [listed, searched] = await Promise.all([
        here ? { sessions: [] } : get(query(path("sessions"), { search: text, limit: text ? 8 : 12, drafts: true })),
        text ? get(query(path("search"), { q: text, session: here ? state.s : "", limit: HITS, prefix: true })) : { hits: [], total: 0 },
      ]);
      sessions = listed.sessions.map(session);
      hits = searched.hits.map(hit);
      if (text) told.textContent = `${searched.total.toLocaleString("en")} ${searched.total === 1 ? "hit" : "hits"}${searched.hits.length < searched.total ? `, the best ${searched.hits.length}` : ""}`;
    } catch (error) {
      told.textContent = error.hint ? `${error.message}. ${error.hint}` : error.message;
    }
    if (mine !== asked) return;
    items = [...commands, ...sessions, ...hits];
    at = 0;
    show();
  };
  field.addEventListener("input", afterwards(80, look));
  field.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      at = Math.max(0, Math.min(items.length - 1, at + step));
      show();
    } else if (event.key === "Enter") {
      event.preventDefault();
      choose(at);
    }
  });
  field.focus();
  look();
}

function command(one) {
  return { show: () => [h("span", { class: "kind" }, "›"), one.text, one.key ? h("kbd", {}, one.key) : null], run: () => act(one.name) };
}

function session(one) {
  return { show: () => [h("span", { class: "kind" }, "session"), h("strong", {}, one.title || "Untitled"), h("span", { class: "quiet" }, ` ${one.project ?? ""} ${ago(one.updated)}`)],
    run: () => go({ s: one.id, e: "", page: "" }) };
}

/** A hit opens where it was said. */
function hit(one) {
  const open = async () => {
    const { rows } = one.entry ? await get(query(path("sessions", one.session, "rows"), { entry: one.entry })) : { rows: [] };
    go({ s: one.session, e: rows[0]?.seq ?? "", tab: "message", page: "", view: "turns" });
  };
  return { show: () => [h("span", { class: "kind" }, one.role ?? "text"), h("span", { class: "snippet" }, one.segments.map((part) => (part.match ? h("mark", {}, part.text) : part.text))),
    h("span", { class: "quiet" }, ` ${one.title}`)], run: () => attempt(open) };
}
