// The page: three panes, what stands instead of two of them, and the bar above.

import { act } from "./actions.js";
import { whenLoggedOut } from "./api.js";
import * as compare from "./compare.js";
import * as detail from "./detail.js";
import { button, fill, h } from "./dom.js";
import { help } from "./help.js";
import * as keys from "./keys.js";
import { live, onLive, start } from "./live.js";
import { login } from "./login.js";
import { palette } from "./palette.js";
import * as sessions from "./sessions.js";
import { state, watch } from "./state.js";
import * as tree from "./tree.js";
import * as usage from "./usage.js";
import { welcome } from "./welcome.js";

const PAGES = { compare, usage };

whenLoggedOut(login);

const page = h("section", { class: "page-pane", "aria-label": "Page", hidden: true, tabindex: -1 });
const first = h("div", { class: "first", hidden: true });
const status = h("span", { class: "status", role: "status" });

const treePane = tree.pane();
const detailPane = detail.pane();
const sessionsPane = sessions.pane((isEmpty) => {
  if (isEmpty && first.childNodes.length === 0) first.append(welcome());
  first.hidden = !isEmpty || Boolean(state.s);
  panes.classList.toggle("empty", !first.hidden);
});

const panes = h("main", { class: "panes" }, sessionsPane, divider("sessions"), treePane, divider("tree"), detailPane, page, first);

document.body.append(
  h("header", { class: "top" }, h("a", { class: "skip", href: "#detail" }, "Skip to the entry"), h("strong", { class: "brand" }, "ramus"),
    button([h("span", {}, "Search or jump"), h("kbd", {}, "⌘K")], () => palette(), { class: "search", id: "search" }), status,
    button("New", () => act("new"), { title: "A new session (n)" }), button("Usage", () => act("usage"), { title: "Usage and cost (u)" }),
    button("?", () => help(), { "aria-label": "Help", title: "Keys and signs (?)" })),
  panes,
  h("nav", { class: "switch", "aria-label": "Panes" }, [["sessions", "Sessions"], ["tree", "Tree"], ["detail", "Entry"]].map(([name, text]) => button(text, () => (document.body.dataset.pane = name), { "data-pane": name }))));
document.body.dataset.pane = state.s ? "detail" : "sessions";

/** A line that can be moved, with the mouse or with arrows. */
function divider(name) {
  const kept = Number(localStorage.getItem(`width-${name}`));
  const widest = 900;
  const set = (width) => {
    const now = Math.max(160, Math.min(widest, Math.round(width)));
    document.documentElement.style.setProperty(`--${name}`, `${now}px`);
    line.setAttribute("aria-valuenow", now);
    localStorage.setItem(`width-${name}`, now);
  };
  const pane = name === "sessions" ? sessionsPane : treePane;
  const line = h("div", { class: "divider", role: "separator", tabindex: 0, "aria-orientation": "vertical", "aria-label": `Width of ${name}`, "aria-valuemin": 160, "aria-valuemax": widest, "aria-valuenow": kept || 300, on: {
    pointerdown: (event) => {
      line.setPointerCapture(event.pointerId);
      const from = pane.getBoundingClientRect().left;
      const drag = (moved) => set(moved.clientX - from);
      line.addEventListener("pointermove", drag);
      line.addEventListener("pointerup", () => line.removeEventListener("pointermove", drag), { once: true });
    },
    keydown: (event) => {
      const step = { ArrowLeft: -20, ArrowRight: 20 }[event.key];
      if (!step) return;
      event.preventDefault();
      set(pane.getBoundingClientRect().width + step);
    },
  } });
  if (kept) set(kept);
  return line;
}

function showPage() {
  const which = PAGES[state.page];
  page.hidden = !which;
  panes.classList.toggle("with-page", Boolean(which));
  if (which) which.show(page);
  else fill(page);
}

watch((before) => {
  first.hidden = first.hidden || Boolean(state.s);
  panes.classList.toggle("empty", !first.hidden);
  if (["page", "a", "b", "by", "s"].some((name) => state[name] !== before[name])) showPage();
});
onLive((what) => {
  if (what === "words") return;
  document.title = live.info ? `${live.info.title || "Untitled"} – ramus` : "ramus";
  status.textContent = live.run ? "● live" : "";
});
showPage();
start();
keys.start();
