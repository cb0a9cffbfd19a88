// Markdown, the part of it that models write, as elements. Markup inside it is text. Links lead only to the web and to mail, and
// pictures are named, never fetched.

import { h } from "./dom.js";

/** Longer texts are shown as they are. */
const LONGEST = 200000;

/** Longer paragraphs have no spans: finding them could take for ever. */
const LONGEST_SPANS = 5000;

/** How deep quotes and lists may go. */
const DEEPEST = 8;

/** Makes elements of a text. */
export function markdown(text) {
  if (text.length > LONGEST) return h("pre", { class: "text" }, text);
  return h("div", { class: "markdown" }, blocks(text.replace(/\r\n?/g, "\n").split("\n"), 0));
}

function blocks(lines, depth) {
  const out = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    const fence = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)/.exec(line);
    const heading = /^(#{1,6})\s(.*)$/.exec(line);
    if (line.trim() === "") at++;
    else if (fence) at = code(lines, at, fence, out);
    else if (heading) {
      out.push(h(`h${Math.min(6, heading[1].length + 2)}`, {}, inline(heading[2].trim())));
      at++;
    } else if (/^ {0,3}([-*_])( *\1){2,} *$/.test(line)) {
      out.push(h("hr"));
      at++;
    } else if (/^ {0,3}>/.test(line) && depth < DEEPEST) at = quote(lines, at, depth, out);
    else if (ITEM.test(line) && depth < DEEPEST) at = list(lines, at, depth, out);
    else if (line.includes("|") && isRule(lines[at + 1] ?? "")) at = table(lines, at, out);
    else at = paragraph(lines, at, out);
  }
  return out;
}

function code(lines, at, fence, out) {
  const body = [];
  let line = at + 1;
  while (line < lines.length && !lines[line].trim().startsWith(fence[1])) body.push(lines[line++]);
  out.push(h("pre", { class: "code", tabindex: 0, "aria-label": fence[2] ? `code, ${fence[2]}` : "code" }, h("code", {}, body.join("\n"))));
  return line + 1;
}

function quote(lines, at, depth, out) {
  const body = [];
  while (at < lines.length && /^ {0,3}>/.test(lines[at])) body.push(lines[at++].replace(/^ {0,3}> ?/, ""));
  out.push(h("blockquote", {}, blocks(body, depth + 1)));
  return at;
}

const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])([ \t]+|$)/;

/** An item goes on with what is indented by so much more than its mark. */
const INSIDE = 2;

/** A list, also one with empty lines between its items. It is numbered from where it says. */
function list(lines, at, depth, out) {
  const [, , mark] = ITEM.exec(lines[at]);
  const isOrdered = /\d/.test(mark);
  const items = [];
  while (at < lines.length) {
    const found = ITEM.exec(lines[at]);
    if (!found || /\d/.test(found[2]) !== isOrdered) break;
    const own = found[1].length;
    const indent = found[3].includes("\t") ? own + found[2].length + 1 : found[0].length;
    const body = [lines[at++].slice(found[0].length)];
    for (;;) {
      const next = filled(lines, at);
      if (next >= lines.length || indentOf(lines[next]) < own + INSIDE) break;
      while (at <= next) body.push(outdent(lines[at++], indent));
    }
    const task = /^\[([ xX])\] /.exec(body[0]);
    if (task) body[0] = (task[1] === " " ? "☐ " : "☑ ") + body[0].slice(4);
    const made = blocks(body, depth + 1);
    const only = made.length > 0 && made[0].tagName === "P" ? [...made[0].childNodes, ...made.slice(1)] : made;
    items.push(h("li", {}, only));
    at = filled(lines, at);
  }
  const start = isOrdered ? Number.parseInt(mark, 10) : 1;
  out.push(h(isOrdered ? "ol" : "ul", { start: start === 1 ? undefined : start }, items));
  return at;
}

/** The next line that is not empty. */
function filled(lines, at) {
  while (at < lines.length && lines[at].trim() === "") at++;
  return at;
}

/** How far a line is indented; a tab reaches to the next multiple of four. */
function indentOf(line) {
  let columns = 0;
  for (let at = 0; line[at] === " " || line[at] === "\t"; at++) columns += line[at] === " " ? 1 : 4 - (columns % 4);
  return columns;
}

/** A line without so much of its indent. */
function outdent(line, most) {
  let columns = 0;
  let at = 0;
  for (; columns < most && (line[at] === " " || line[at] === "\t"); at++) columns += line[at] === " " ? 1 : 4 - (columns % 4);
  return " ".repeat(Math.max(0, columns - most)) + line.slice(at);
}

/** Says whether a line parts the head of a table from its rows. */
function isRule(line) {
  return line.includes("|") && line.includes("-") && /^[\s|:-]+$/.test(line);
}

function table(lines, at, out) {
  const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
  const row = (line, name) => h("tr", {}, cells(line).map((cell) => h(name, {}, inline(cell))));
  const head = row(lines[at], "th");
  const body = [];
  at += 2;
  while (at < lines.length && lines[at].includes("|") && lines[at].trim() !== "") body.push(row(lines[at++], "td"));
  out.push(h("table", {}, h("thead", {}, head), h("tbody", {}, body)));
  return at;
}

function paragraph(lines, at, out) {
  const body = [];
  const starts = (line) => /^ {0,3}(`{3,}|~{3,}|>|#{1,6}\s)/.test(line) || ITEM.test(line);
  while (at < lines.length && lines[at].trim() !== "" && (body.length === 0 || !starts(lines[at]))) body.push(lines[at++]);
  out.push(h("p", {}, inline(body.join("\n"))));
  return at;
}

// Spans; the earliest in the text counts. What may stand inside one can be read in one way only: no text takes for ever.
const CODE = "(`{1,3})([\\s\\S]+?)\\1(?!`)";
const LINK = "!?\\[([^\\][]*)\\]\\(((?:[^()\\s]|\\([^()\\s]*\\))*)(?:\\s+\"[^\"]*\")?\\)";
const INNER = "`[^`]*`|`(?![^`]*`)|[^*`]";
const BOTH = "\\*\\*\\*([^*]+)\\*\\*\\*";
const STRONG = `\\*\\*((?:${INNER}|\\*(?!\\*))+)\\*\\*|__([^_]+)__`;
const WEAK = `\\*(?![\\s*])((?:${INNER})+)\\*`;
const GONE = "~~([^~]+)~~";
const ADDRESS = "((?:http|https):\\/\\/(?:\\([^\\s()<>\"'\\]]*\\)|[^\\s()<>\"'\\]])+)";
const SPAN = new RegExp([CODE, LINK, BOTH, STRONG, WEAK, GONE, ADDRESS].join("|"), "g");

/** How deep spans may go. */
const DEEPEST_SPANS = 4;

function inline(text, inside = { depth: 0, isLink: false }) {
  if (text.length > LONGEST_SPANS || inside.depth >= DEEPEST_SPANS) return [text];
  const out = [];
  let from = 0;
  for (const found of text.matchAll(SPAN)) {
    if (found.index > from) out.push(text.slice(from, found.index));
    out.push(span(found, { ...inside, depth: inside.depth + 1 }));
    from = found.index + found[0].length;
  }
  if (from < text.length) out.push(text.slice(from));
  return out;
}

function span([whole, ticks, code, label, target, both, strong, strong2, weak, gone, address], inside) {
  if (ticks) return h("code", {}, code.trim() || code);
  if (label !== undefined) return whole.startsWith("!") ? h("span", { class: "picture" }, `[picture: ${label || target}]`) : link(target, label || target, inside);
  if (both) return h("strong", {}, h("em", {}, inline(both, inside)));
  if (strong ?? strong2) return h("strong", {}, inline(strong ?? strong2, inside));
  if (weak) return h("em", {}, inline(weak, inside));
  if (gone) return h("s", {}, inline(gone, inside));
  // What ends a sentence does not belong to the address in it.
  let end = address.length;
  while (".,;:!?*_~".includes(address[end - 1])) end--;
  return [link(address.slice(0, end), address.slice(0, end), inside), address.slice(end)];
}

/** A link that leads to the web, opened elsewhere and without telling where one came from; other addresses are text. */
function link(target, label, inside) {
  const shown = label === target ? [label] : inline(label, { ...inside, isLink: true });
  if (inside.isLink) return shown;
  let url;
  try {
    url = new URL(target);
  } catch {
    url = null;
  }
  if (!["http:", "https:", "mailto:"].includes(url?.protocol)) return label === target ? shown : [shown, ` (${target})`];
  return h("a", { href: url.href, target: "_blank", rel: "noopener noreferrer nofollow", title: url.href }, shown);
}
