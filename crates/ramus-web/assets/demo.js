// An example to look at: made with the same requests that every client has.

import { path, post } from "./api.js";
import { reload } from "./sessions.js";
import { enter } from "./state.js";

const usage = (input, output, total) => ({ input, output, cacheRead: 0, cacheWrite: 0, totalTokens: input + output, cost: { total } });
const user = (id, parentId, text) => ({ type: "message", id, ...(parentId ? { parentId } : {}), message: { role: "user", content: text } });
const says = (id, parentId, text, used) => ({ type: "message", id, parentId, message: { role: "assistant", provider: "demo", model: "example", stopReason: "stop", usage: used, content: [{ type: "text", text }] } });
const calls = (id, parentId, call, name, given, used) => ({ type: "message", id, parentId, message: { role: "assistant", provider: "demo", model: "example", stopReason: "toolUse", usage: used, content: [{ type: "toolCall", id: call, name, arguments: given }] } });
const result = (id, parentId, call, name, text, isError = false) => ({ type: "message", id, parentId, message: { role: "toolResult", toolCallId: call, toolName: name, isError, content: [{ type: "text", text }] } });

const ENTRIES = [
  user("demo0001", null, "The login page forgets who I am. Why?"),
  calls("demo0002", "demo0001", "c1", "bash", { command: "grep -n cookie src/login.rs" }, usage(1200, 40, 0.004)),
  result("demo0003", "demo0002", "c1", "bash", "41: cookie.set_max_age(0);\n42: cookie.set_secure(true);\n"),
  says("demo0004", "demo0003", "The cookie lives for **0 seconds** (`src/login.rs:41`), so the browser throws it away at once.\n\nTwo ways out:\n\n1. give it a life of 30 days\n2. keep the session on the server and renew it", usage(1400, 120, 0.006)),
  { type: "label", id: "demo0005", targetId: "demo0004", label: "decision" },
  user("demo0006", "demo0004", "Do the first."),
  calls("demo0007", "demo0006", "c2", "edit", { path: "src/login.rs", old: "set_max_age(0)", new: "set_max_age(30 * DAY)" }, usage(1600, 60, 0.007)),
  result("demo0008", "demo0007", "c2", "edit", "Changed 1 line."),
  says("demo0009", "demo0008", "Done. Whoever logs in stays logged in for 30 days.", usage(1700, 30, 0.006)),
  user("demo0010", "demo0004", "Do the second: no long-lived cookies."),
  calls("demo0011", "demo0010", "c3", "bash", { command: "cargo test login" }, usage(1600, 30, 0.006)),
  result("demo0012", "demo0011", "c3", "bash", "test login_survives_restart ... FAILED", true),
  says("demo0013", "demo0012", "Sessions now live on the server and are renewed on every request.\n\n| what | before | after |\n| --- | --- | --- |\n| cookie | 0 s | until the browser closes |\n| session | none | 8 h, renewed |\n\nOne test still fails; shall I look at it?", usage(1900, 160, 0.01)),
];

/** Makes the example and opens it. */
export async function demo() {
  const { session } = await post(path("sessions"), { title: "Example: the login page forgets who I am" });
  await post(path("sessions", session.id, "entries"), { entries: ENTRIES });
  await reload();
  enter(session.id);
}
