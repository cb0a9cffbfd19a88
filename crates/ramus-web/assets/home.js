// What is shown while no session is open: what there is, what was done last, and how to begin.

import { act } from "./actions.js";
import { get, path, query } from "./api.js";
import { button, fill, h, soon } from "./dom.js";
import { base, called, count, held, money, short, since } from "./format.js";
import { palette } from "./palette.js";
import { newest, onList } from "./sessions.js";
import { enter } from "./state.js";

/** How many sessions are named. */
const MOST = 8;

/** Makes the page. It is told anew when the list is, and counts what the week cost when it is seen. */
export function home() {
  const cards = h("ul", { class: "cards", "aria-label": "What there is" });
  const recent = h("ol", { class: "recent" });
  const page = h("section", { class: "first home", "aria-label": "Start", hidden: true }, h("h1", {}, "Where were you?"), cards,
    h("div", {}, h("h2", {}, "Last used"), recent),
    h("div", { class: "toggles" }, button("New session", () => act("new"), { class: "main" }), button("Search everything", () => palette()), button("Usage and cost", () => act("usage")), button("Import…", () => act("import"))),
    h("p", { class: "quiet" }, h("kbd", {}, "j"), " ", h("kbd", {}, "k"), " through a tree, ", h("kbd", {}, "["), " ", h("kbd", {}, "]"), " through sessions, ", h("kbd", {}, held("K")), " to find anything, ", h("kbd", {}, "?"), " for every key."));
  let week = null;
  const show = () => {
    const { sessions, count: all, isMore } = newest(MOST);
    fill(cards, card(isMore ? `${all.toLocaleString("en")}+` : all.toLocaleString("en"), all === 1 && !isMore ? "session" : "sessions"),
      week ? [card(money(week.cost_micros, week.unpriced) || "$0", "in the last 7 days"), card(short(week.answers), "answers in 7 days")] : null);
    fill(recent, sessions.map((one) => h("li", {}, button([h("span", { class: "title" }, called(one.title)),
      h("span", { class: "quiet" }, [base(one.project ?? one.cwd), count(one.messages, "message"), money(one.cost_micros, one.unpriced)].filter(Boolean).join(" · ")),
      since(one.updated)], () => enter(one.id), { title: one.cwd }))));
  };
  const ask = soon(1000, async () => {
    if (page.hidden) return;
    week = (await get(query(path("usage"), { by: "day", since: "7d" })).catch(() => null))?.total ?? week;
    show();
  });
  onList(() => {
    show();
    ask();
  });
  return { page, seen: ask };
}

const card = (figure, text) => h("li", {}, h("strong", {}, figure), h("span", { class: "quiet" }, text));
