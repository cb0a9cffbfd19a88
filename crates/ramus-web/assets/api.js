// Asks the server. Every answer is JSON; every refusal becomes a `Refusal` with what the server said.

export class Refusal extends Error {
  constructor(status, error) {
    super(error?.message ?? `the server answered ${status}`);
    this.status = status;
    this.kind = error?.kind ?? "io";
    this.hint = error?.hint ?? null;
  }
}

let onLogin = () => {};

/** Says what happens when the server wants to know who asks. */
export function whenLoggedOut(act) {
  onLogin = act;
}

async function ask(method, path, body, signal, headers = {}) {
  const how = { method, signal, headers: { ...headers } };
  if (method !== "GET" && method !== "DELETE") {
    how.headers["content-type"] = "application/json";
    how.body = JSON.stringify(body ?? {});
  }
  let answer;
  try {
    answer = await fetch(path, how);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(0, { kind: "io", message: "the server does not answer" });
  }
  if (answer.status === 204) return {};
  const text = await answer.text();
  let value = {};
  try {
    value = JSON.parse(text);
  } catch {
    if (answer.ok) return { text };
  }
  if (answer.ok) return value;
  const refusal = new Refusal(answer.status, value.error);
  // Whoever is asked for the token need not be told that there is none; a wrong one is told.
  refusal.isAsked = answer.status === 401 && path !== "/login";
  if (refusal.isAsked) onLogin();
  throw refusal;
}

/** Makes an address of parts, each of them escaped: `path("sessions", id, "tree")`. */
export function path(...parts) {
  return "/api/v1/" + parts.map(encodeURIComponent).join("/");
}

/** Makes addresses below one session, whichever is open by the time they are used. */
export const within = (id) => (...parts) => path("sessions", id, ...parts);

/** Adds what is asked for; what is empty is left out. */
export function query(address, asked) {
  const given = Object.entries(asked).filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false);
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text ? `${address}?${text}` : address;
}

export const get = (address, signal) => ask("GET", address, undefined, signal);
/** Posts something. What has a `key` is done once, however often it is sent. */
export const post = (address, body, { key } = {}) => ask("POST", address, body, undefined, key ? { "idempotency-key": key } : {});
export const patch = (address, body) => ask("PATCH", address, body);
export const remove = (address) => ask("DELETE", address);

/** Reads the text of an entry as it is stored. */
export async function stored(address) {
  const answer = await fetch(address);
  const text = await answer.text();
  if (!answer.ok) {
    let said = {};
    try {
      said = JSON.parse(text);
    } catch {
      // What is no JSON explains nothing.
    }
    throw new Refusal(answer.status, said.error);
  }
  return text;
}
