// The right pane: what is at the selected row, in tabs, and what can be done with it.

import { act, ACTIONS } from "./actions.js";
import * as context from "./context.js";
import { button, fill, h, perFrame, put } from "./dom.js";
import * as files from "./files.js";
import { base, called, money, short } from "./format.js";
import { renew } from "./keep.js";
import { relatives } from "./kin.js";
import { live, onLive } from "./live.js";
import { menu } from "./menu.js";
import { models, windowOf } from "./models.js";
import { box } from "./prompt.js";
import * as raw from "./raw.js";
import { go, state, watch } from "./state.js";
import * as thread from "./thread.js";
import { moveSibling, onTree, open, selectedRow, siblings, targetOf } from "./tree.js";

const TABS = [["message", "Message"], ["thread", "Thread"], ["files", "Files"], ["context", "Context"], ["raw", "Raw"]];

/** Tabs that show something else than messages. */
const OTHERS = { files, context, raw };

let content = null;
/** What is shown, unless it is messages; how often it was asked for, and which of the answers is there. */
let shown = "";
let asked = 0;
let told = 0;

export function pane() {
  const head = h("header", { class: "about" });
  const tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "What is shown of the entry", on: { keydown: arrows } },
    TABS.map(([name, text]) => button(text, () => go({ tab: name }, { replace: true }), { role: "tab", id: `tab-${name}`, "data-tab": name, "aria-controls": "detail" })));
  const tools = h("div", { class: "tools", role: "toolbar", "aria-label": "Actions" });
  content = h("div", { class: "content", id: "detail", role: "tabpanel", tabindex: 0 });
  thread.use(content);
  const choose = toolbar(tools);
  const bar = () => {
    for (const tab of tabs.children) {
      const isIt = tab.dataset.tab === state.tab;
      tab.setAttribute("aria-selected", isIt);
      tab.tabIndex = isIt ? 0 : -1;
    }
    content.setAttribute("aria-labelledby", `tab-${state.tab}`);
    head.hidden = !state.s;
    tabs.hidden = tools.hidden = !state.s || live.isMissing;
    choose();
    renew(head, about());
  };
  watch((before) => {
    bar();
    if (["e", "s", "tab", "view"].some((name) => state[name] !== before[name])) thread.rewindow();
    if (state.tab === before.tab && state.diff === before.diff) return;
    shown = "";
    render();
  });
  onTree(() => {
    bar();
    render();
  });
  onLive((what) => {
    if (what !== "words") bar();
    if (what === "info") render();
    thread.say();
  });
  bar();
  models(bar);
  return h("section", { class: "pane detail", "aria-label": "Detail" }, head, tools, tabs, content, box());
}

function arrows(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  event.stopPropagation();
  const at = TABS.findIndex(([name]) => name === state.tab);
  const next = TABS[(at + step + TABS.length) % TABS.length][0];
  go({ tab: next }, { replace: true });
  document.getElementById(`tab-${next}`)?.focus();
}

function about() {
  const { info } = live;
  if (!info) return state.s ? h("h1", {}, live.isMissing ? "No such session" : "…") : null;
  const below = live.children.reduce((sum, child) => sum + (child.cost_micros ?? 0), 0);
  const facts = [info.model, meter(info), money(info.cost_micros, info.unpriced), below ? `${money(below)} by subagents` : "", base(info.cwd)].filter(Boolean);
  return [h("h1", { title: info.id }, called(info.title)), h("p", { class: "quiet facts", title: info.cwd }, facts.map((fact, at) => [at > 0 ? " · " : null, fact])),
    relatives(),
    info.revert ? h("p", { class: "reverted" }, "Reverted. ", button("Take the revert back", () => act("unrevert"))) : null];
}

/** From these shares of a window on it is told that it fills up. */
const LEVELS = [[95, "full"], [85, "high"], [70, "some"]];

/** How much of what the model can be sent is used. */
function meter({ model, context_tokens: tokens }) {
  if (!tokens) return null;
  const window = windowOf(model);
  if (!window) return `context ${short(tokens)}`;
  const share = Math.min(100, Math.round((100 * tokens) / window));
  const level = LEVELS.find(([least]) => share >= least)?.[1] ?? "";
  return h("span", { class: `context ${level}`, title: `${tokens.toLocaleString("en")} of ${window.toLocaleString("en")} tokens` },
    h("span", { class: "meter", role: "meter", "aria-label": "Context", "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": share }, h("span", { style: { width: `${share}%` } })), ` ${share}% of ${short(window)}`);
}

/** What is behind "More": what has no room beside it, what can be done with the session, and what cannot be undone at the end. */
function more(isBeside) {
  const shown = ACTIONS.filter((one) => one.menu && (one.always || selectedRow()) && !isBeside(one));
  const item = ({ name, menu: text, key, danger: isDanger }) => ({ action: name, text: text(live.info), key, isDanger, run: () => act(name) });
  return [...shown.filter((one) => !one.danger).map(item), null, ...shown.filter((one) => one.danger).map(item)];
}

/** Fills a toolbar once; returns what shows which of it can be pressed. So the focus stays on what was pressed. */
function toolbar(tools) {
  const step = (text, by, label) => button(text, () => moveSibling(by), { "aria-label": label });
  const [previous, next] = [step("‹", -1, "Previous sibling"), step("›", 1, "Next sibling")];
  const number = h("span");
  const pager = h("span", { class: "pager" }, previous, number, next);
  const actions = ACTIONS.filter((one) => one.button);
  const buttons = actions.map((one) => button(one.button, () => act(one.name), { title: one.key ? `${one.text} (${one.key})` : one.text, "data-action": one.name }));
  const isBeside = (one) => buttons[actions.indexOf(one)]?.checkVisibility() ?? false;
  put(tools, [pager, buttons, menu("More ▾", "More to do with this session", () => more(isBeside))]);
  return () => {
    const row = selectedRow();
    const { all, at } = siblings(row);
    pager.hidden = all.length < 2 || at < 0;
    number.textContent = `${at + 1}/${all.length}`;
    const focused = document.activeElement;
    previous.disabled = at <= 0;
    next.disabled = at === all.length - 1;
    if (focused === previous && previous.disabled) next.focus();
    if (focused === next && next.disabled) previous.focus();
    actions.forEach((one, n) => (buttons[n].hidden = !row && !one.always));
  };
}

/** Shows what the address says. What did not change stays as it is. */
const render = perFrame(() => {
  const row = selectedRow();
  if (row && thread.isTalk()) {
    shown = "";
    return thread.show(row);
  }
  thread.leave();
  if (row) return other(row);
  shown = "";
  fill(content, missing(), thread.words);
});

/** Shows a tab without messages. What it tells grows with the session; then it is read again, and changed where it differs. */
function other(row) {
  const place = `${open.id} ${state.tab} ${state.e} ${state.tab === "files" ? state.diff : ""}`;
  const isNow = state.tab === "files" && state.diff === "now";
  const name = `${place}: ${open.version} ${state.tab === "raw" ? "" : isNow ? open.made.position : targetOf(row)}`;
  if (name === shown) return undefined;
  const isAgain = shown.startsWith(`${place}:`);
  const mine = ++asked;
  shown = name;
  const isWanted = () => {
    if (mine < told || !shown.startsWith(`${place}:`)) return false;
    told = mine;
    return true;
  };
  const again = () => {
    if (!shown.startsWith(`${place}:`)) return undefined;
    shown = `${place}: `;
    return other(row);
  };
  return OTHERS[state.tab]?.show(content, row, { isAgain, again, isWanted });
}

/** What is said where there is no row. */
function missing() {
  if (!state.s || !open.made) return null;
  if (open.made.seqs.length === 0) return h("p", { class: "quiet" }, "Nothing was said yet. Say something below.");
  if (!state.e) return null;
  const isElsewhere = state.view !== "all" && open.made.at.has(Number(state.e));
  return h("p", { class: "quiet" }, "This entry is not in this view. ", isElsewhere ? button("Show all entries", () => go({ view: "all" })) : null);
}
