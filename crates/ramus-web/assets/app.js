// The page: three panes, what stands instead of two of them, and the bar above.

import { act } from "./actions.js";
import { whenLoggedOut } from "./api.js";
import * as compare from "./compare.js";
import * as detail from "./detail.js";
import { notesIn } from "./dialog.js";
import { divider } from "./divider.js";
import { button, fill, h } from "./dom.js";
import * as done from "./done.js";
import { age, called, held } from "./format.js";
import { help } from "./help.js";
import { home } from "./home.js";
import * as keys from "./keys.js";
import { live, onLive, start } from "./live.js";
import { login } from "./login.js";
import { palette } from "./palette.js";
import * as sessions from "./sessions.js";
import { go, paneNow, state, watch } from "./state.js";
import * as timeline from "./timeline.js";
import * as tree from "./tree.js";
import * as usage from "./usage.js";
import { welcome } from "./welcome.js";

const PAGES = { compare, done, timeline, usage };

whenLoggedOut(login);

const page = h("section", { class: "page-pane", "aria-label": "Page", hidden: true, tabindex: -1 });
const first = h("div", { class: "first", hidden: true });
const status = h("span", { class: "status", role: "status" });

const treePane = tree.pane();
const detailPane = detail.pane();
const begin = home();
/** Whether there is no session at all; nobody knows before the list came. */
let isNew = null;
const sessionsPane = sessions.pane((isEmpty) => {
  if (isEmpty && first.childNodes.length === 0) first.append(welcome());
  isNew = isEmpty;
  instead();
});

notesIn(sessionsPane);

const panes = h("main", { class: "panes" }, sessionsPane, divider("sessions", sessionsPane), treePane, divider("tree", treePane), detailPane, page, first, begin.page);

/** Shows what stands in the place of a session while none is open. */
function instead() {
  const isFree = !state.s && !PAGES[state.page];
  first.hidden = !(isFree && isNew === true);
  const wasHidden = begin.page.hidden;
  begin.page.hidden = !(isFree && isNew === false);
  if (wasHidden && !begin.page.hidden) begin.seen();
  panes.classList.toggle("empty", !first.hidden);
  panes.classList.toggle("at-home", !begin.page.hidden);
}

document.body.append(
  h("header", { class: "top" }, h("a", { class: "skip", href: "#detail" }, "Skip to the entry"), h("strong", { class: "brand" }, "ramus"),
    button([h("span", {}, "Search or jump"), h("kbd", {}, held("K"))], () => palette(), { class: "search", id: "search" }), status,
    button("New", () => act("new"), { title: "A new session (n)" }), button("Usage", () => act("usage"), { title: "Usage and cost (u)" }),
    button("?", () => help(), { "aria-label": "Help", title: "Keys and signs (?)" })),
  panes,
  h("nav", { class: "switch", "aria-label": "Panes" }, [["sessions", "Sessions"], ["tree", "Tree"], ["detail", "Entry"]].map(([name, text]) => button(text, () => go({ pane: name, page: "" }, { replace: true }), { "data-pane": name }))));

/** Says which pane a narrow screen shows. */
function showPane() {
  document.body.dataset.pane = paneNow();
  for (const one of document.querySelectorAll(".switch [data-pane]")) one.setAttribute("aria-current", one.dataset.pane === paneNow());
}
showPane();

function showPage() {
  const which = PAGES[state.page];
  page.hidden = !which;
  panes.classList.toggle("with-page", Boolean(which));
  if (which) which.show(page);
  else fill(page);
}

watch((before) => {
  showPane();
  instead();
  if (["page", "a", "b", "with", "by", "s"].some((name) => state[name] !== before[name])) showPage();
});
onLive((what) => {
  if (what === "words") return;
  const title = live.info ? `${called(live.info.title)} – ramus` : "ramus";
  const asks = live.asked.length > 0;
  document.title = asks ? `Needs you: ${title}` : title;
  status.textContent = asks ? "● needs you" : live.run ? "● live" : "";
});
showPage();
start();
setInterval(age, 20000);
keys.start();
