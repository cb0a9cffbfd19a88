// Numbers, times and names as people read them.

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

/** A time in full. */
export function time(iso) {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? "" : date.toLocaleString();
}

/** The last part of a directory. */
export function base(path) {
  return (path ?? "").split("/").filter(Boolean).pop() ?? "/";
}

/** What changed in files: `3 files +41 −7`. */
export function changed(summary) {
  if (!summary || !summary.files) return "";
  return `${count(summary.files, "file")} +${summary.additions} −${summary.deletions}`;
}
