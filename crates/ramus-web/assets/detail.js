// The right pane: what is at the selected row, in tabs, and what can be done with it.

import { act, ACTIONS } from "./actions.js";
import { get, path, query } from "./api.js";
import * as context from "./context.js";
import { complain } from "./dialog.js";
import { button, fill, h, perFrame } from "./dom.js";
import * as files from "./files.js";
import { base, money, short } from "./format.js";
import { live, onLive } from "./live.js";
import { markdown } from "./markdown.js";
import { transcript } from "./message.js";
import { entriesOf } from "./outline.js";
import { box } from "./prompt.js";
import * as raw from "./raw.js";
import { go, state, watch } from "./state.js";
import { moveSibling, onTree, open, selectedRow, siblings } from "./tree.js";

/** How many entries of a long turn are shown at first. */
const WINDOW = 60;

const TABS = [["message", "Message"], ["files", "Files"], ["context", "Context"], ["raw", "Raw"]];

let content = null;
let words = null;
let shown = "";
/** Entries that were read, by position; of one session at a time. */
let read = new Map();
let readOf = "";
/** Where more of a long turn was asked for. */
let from = -1;

export function pane() {
  const head = h("header", { class: "about" });
  const tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "What is shown of the entry", on: { keydown: arrows } },
    TABS.map(([name, text]) => button(text, () => go({ tab: name }, { replace: true }), { role: "tab", id: `tab-${name}`, "data-tab": name, "aria-controls": "detail" })));
  const tools = h("div", { class: "tools", role: "toolbar", "aria-label": "Actions" });
  content = h("div", { class: "content", id: "detail", role: "tabpanel", tabindex: 0 });
  words = h("div", { class: "live", "aria-live": "off" });
  const bar = () => {
    for (const tab of tabs.children) {
      const isIt = tab.dataset.tab === state.tab;
      tab.setAttribute("aria-selected", isIt);
      tab.tabIndex = isIt ? 0 : -1;
    }
    content.setAttribute("aria-labelledby", `tab-${state.tab}`);
    tabs.hidden = head.hidden = !state.s;
    fill(tools, state.s ? toolbar() : null);
    fill(head, about());
  };
  watch((before) => {
    bar();
    if (state.e !== before.e || state.s !== before.s) from = -1;
    if (state.tab !== before.tab || state.diff !== before.diff) render();
  });
  onTree(() => {
    bar();
    render();
  });
  onLive((what) => {
    if (what === "words") return say();
    bar();
    say();
  });
  bar();
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
  if (!info) return state.s ? h("h1", {}, "…") : null;
  const facts = [info.model, info.context_tokens ? `context ${short(info.context_tokens)}` : "", money(info.cost_micros, info.unpriced), base(info.cwd)].filter(Boolean);
  return [h("h1", { title: info.id }, info.title || "Untitled"), h("p", { class: "quiet facts", title: info.cwd }, facts.join(" · ")),
    info.revert ? h("p", { class: "reverted" }, "Reverted. ", button("Take the revert back", () => act("unrevert"))) : null];
}

function toolbar() {
  const row = selectedRow();
  const { all, at } = siblings(row);
  const pager = all.length > 1 && at >= 0 ? h("span", { class: "pager" }, button("‹", () => moveSibling(-1), { "aria-label": "Previous sibling", disabled: at === 0 }), `${at + 1}/${all.length}`,
    button("›", () => moveSibling(1), { "aria-label": "Next sibling", disabled: at === all.length - 1 })) : null;
  return [pager, ACTIONS.filter((one) => one.button && (row || one.always)).map((one) => button(one.button, () => act(one.name), { title: one.key ? `${one.text} (${one.key})` : one.text, "data-action": one.name }))];
}

/** Shows what the address says. What did not change stays where it is. */
const render = perFrame(() => {
  const row = selectedRow();
  if (!row) {
    shown = "";
    return fill(content, state.s && open.made?.seqs.length === 0 ? h("p", { class: "quiet" }, "Nothing was said yet. Say something below.") : null, words);
  }
  if (state.tab === "files") return files.show(content, row);
  if (state.tab === "context") return context.show(content, row);
  if (state.tab === "raw") return raw.show(content);
  shown = state.tab === "message" ? shown : "";
  messages(row);
});

async function messages(row) {
  const { id } = open;
  const all = state.view === "all" ? turnOf(row) : entriesOf(open.made, row);
  const start = window(all, row);
  const wanted = all.slice(start, start + WINDOW);
  const name = `${id} ${state.e} ${wanted.map((seq) => `${seq}${open.made.labels.get(seq) ?? ""}`).join(",")}`;
  if (name === shown && content.contains(words)) return say();
  const source = `${id} ${open.version}`;
  if (readOf !== source) read = new Map();
  readOf = source;
  const missing = wanted.filter((seq) => !read.has(seq));
  if (missing.length > 0) {
    try {
      const answer = await get(query(path("sessions", id, "passage"), { at: missing.join(",") }));
      if (open.id !== id) return;
      for (const entry of answer.entries) read.set(entry.seq, entry);
      for (const seq of missing) if (!read.has(seq) && !answer.rest.includes(seq)) read.set(seq, null);
      if (answer.rest.length > 0) return messages(row);
    } catch (error) {
      return complain(error);
    }
  }
  if (selectedRow()?.seq !== row.seq || state.tab !== "message") return;
  const isSame = shown.startsWith(`${id} ${state.e} `);
  const atEnd = content.scrollTop + content.clientHeight >= content.scrollHeight - 40;
  shown = name;
  for (const entry of wanted.map((seq) => read.get(seq)).filter(Boolean)) entry.label = open.made.labels.get(entry.seq) ?? null;
  const step = (text, to) => button(text, () => {
    from = to;
    shown = "";
    messages(row);
  }, { class: "more" });
  fill(content, start > 0 ? step(`${start} earlier entries of this turn`, Math.max(0, start - WINDOW)) : null,
    transcript(wanted.map((seq) => read.get(seq)).filter(Boolean), state.e),
    start + WINDOW < all.length ? step(`${all.length - start - WINDOW} later entries of this turn`, start + WINDOW) : null, words);
  say();
  if (isSame && atEnd) content.scrollTop = content.scrollHeight;
  else if (!isSame) content.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  if (!isSame && state.view !== "all") content.scrollTop = 0;
  if (read.size > 2000) read = new Map();
}

/** The entries around one, up to the prompts on both sides. */
function turnOf(row) {
  const { made } = open;
  let first = row.i;
  while (made.kinds[first] !== "u" && made.parent[first] >= 0) first = made.parent[first];
  let last = row.i;
  for (let steps = 0; steps < 500; steps++) {
    const below = [];
    for (let i = made.first[last]; i >= 0; i = made.next[i]) below.push(i);
    const next = below.find((i) => made.onPath[i]) ?? below[below.length - 1];
    if (next === undefined || made.kinds[next] === "u") break;
    last = next;
  }
  return entriesOf(made, { i: first, last });
}

function window(all, row) {
  if (from >= 0) return from;
  const at = state.view === "all" ? all.indexOf(row.seq) : 0;
  return Math.max(0, Math.min(at - WINDOW / 2, all.length - WINDOW));
}

/** Shows words as they come, at the row that they will belong to. */
const say = perFrame(() => {
  const row = selectedRow();
  const isHere = state.tab === "message" && (!row || row.last === open.made.leaf) && live.run;
  const atEnd = content.scrollTop + content.clientHeight >= content.scrollHeight - 40;
  fill(words, isHere ? [live.thinking ? h("details", { class: "thinking" }, h("summary", {}, "Thinking…"), live.thinking) : null,
    live.text ? h("article", { class: "message assistant streaming" }, h("header", {}, h("strong", {}, "Model")), h("div", { class: "body" }, markdown(live.text))) : null,
    live.calls.map((call) => h("p", { class: "quiet" }, h("code", {}, call.name), " is running…")),
    !live.text && live.calls.length === 0 ? h("p", { class: "quiet waiting" }, "The model is working…") : null] : null);
  if (isHere && atEnd) content.scrollTop = content.scrollHeight;
});
