// Numbers, times and names as people read them.

import { h } from "./dom.js";

/** A key that is pressed together with another, as the keyboard of this machine calls it. */
export function held(key) {
  return /mac|iphone|ipad/i.test(navigator.userAgentData?.platform ?? navigator.platform) ? `⌘${key}` : `Ctrl+${key}`;
}

/** Millionths of a dollar; nothing for nothing. What nobody knows is no zero. */
export function money(micros, unpriced = 0) {
  if (!micros && unpriced > 0) return "$?";
  if (!micros) return "";
  const dollars = micros / 1e6;
  const digits = dollars < 0.1 ? 4 : 2;
  return `$${dollars.toFixed(digits)}${unpriced > 0 ? "+?" : ""}`;
}

/** Counts as `82k`. */
export function short(number) {
  if (number < 1000) return String(number);
  if (number < 1e6) return `${trim(number / 1e3)}k`;
  return `${trim(number / 1e6)}M`;
}

function trim(number) {
  return number < 10 ? number.toFixed(1).replace(/\.0$/, "") : String(Math.round(number));
}

/** A line of Markdown without its marks. */
export function plain(text) {
  return text.replace(/^(#{1,6} |[-*+] |> |\d+\. )+/, "").replace(/(\*\*|__|~~|`+)(?=\S)(.*?\S)\1/g, "$2");
}

/** Bytes as `1.2 MB`. */
export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${trim(bytes / 1e3)} kB` : `${trim(bytes / 1e6)} MB`;
}

/** `1 file`, `2 files`. */
export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/** How long ago, in few letters. */
export function ago(iso) {
  const seconds = (Date.now() - Date.parse(iso)) / 1000;
  if (!Number.isFinite(seconds)) return "";
  if (seconds < 60) return "now";
  for (const [length, unit] of [[60, "m"], [3600, "h"], [86400, "d"], [604800, "w"]]) {
    const next = { m: 3600, h: 86400, d: 604800, w: 31536000 }[unit];
    if (seconds < next) return `${Math.floor(seconds / length)}${unit}`;
  }
  return `${Math.floor(seconds / 31536000)}y`;
}

/** How long ago as an element that tells it anew as time goes by. */
export const since = (iso) => h("time", { class: "when", datetime: iso, "data-since": iso, title: time(iso) }, ago(iso));

/** Tells anew how long ago everything was. */
export function age() {
  for (const one of document.querySelectorAll("[data-since]")) {
    const text = ago(one.dataset.since);
    if (one.textContent !== text) one.textContent = text;
  }
}

/** A length of time. */
export function span(milliseconds) {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${trim(seconds)}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${Math.round(seconds % 60)}s`;
  return `${Math.floor(seconds / 3600)}h ${Math.round((seconds % 3600) / 60)}m`;
}

/** A time as short as it can be told: of today the hour, of this year the day, too. */
export function when(iso) {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return "";
  const now = new Date();
  const hour = { hour: "2-digit", minute: "2-digit" };
  if (date.toDateString() === now.toDateString()) return date.toLocaleTimeString(undefined, hour);
  const year = date.getFullYear() === now.getFullYear() ? undefined : "numeric";
  return date.toLocaleString(undefined, { year, month: "short", day: "numeric", ...hour });
}

/** A time in full. */
export function time(iso) {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? "" : date.toLocaleString();
}

/** What a session is called. One that got no title yet is told by when it began. */
export function called(title) {
  const since = /^New session - (\d{4}-\d\d-\d\dT[\d:.]+Z)$/.exec(title ?? "");
  return since ? `New session, ${when(since[1])}` : title || "Untitled";
}

/** The last part of a directory. */
export function base(path) {
  return (path ?? "").split("/").filter(Boolean).pop() ?? "/";
}

const SPEAKERS = { user: "You", assistant: "Model", toolResult: "Tool", system: "System", bashExecution: "Shell", compactionSummary: "Summary", branchSummary: "Summary" };

/** Who speaks in a role. */
export const speaker = (role) => SPEAKERS[role] ?? role;

/** What changed in files: `3 files +41 −7`. */
export function changed(summary) {
  if (!summary || !summary.files) return "";
  return `${count(summary.files, "file")} +${summary.additions} −${summary.deletions}`;
}
