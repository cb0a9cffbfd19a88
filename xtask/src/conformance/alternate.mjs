// Drives the real session manager of pi or omp in one long-lived process, for `alternate.rs`.
//
// usage: alternate.mjs MODULE FILE. Reads one command per line and answers each with one line of JSON:
//   append TEXT    appends a user message            {"id": "…"}
//   repeat N TEXT  appends N messages, one at a time {"ids": ["…", …]}
//   known          what this process holds in memory {"ids": ["…", …]}
//   reopen         what a fresh look at the file has {"ids": ["…", …]}
import path from "node:path";
import readline from "node:readline";

const [module, file] = process.argv.slice(2);
const { SessionManager } = await import(module);
const open = () => SessionManager.open(file, path.dirname(file));
const ids = (session) => session.getEntries().map((entry) => entry.id);
let session = await open();

async function append(text) {
  const message = { role: "user", content: [{ type: "text", text }], timestamp: Date.now() };
  const id = session.appendMessage(message);
  // pi writes at once, omp when it gets to it.
  await session.flush?.();
  return id;
}

async function answer(line) {
  const [verb, ...words] = line.split(" ");
  switch (verb) {
    case "append":
      return { id: await append(words.join(" ")) };
    case "repeat": {
      const written = [];
      for (let at = 0; at < Number(words[0]); at++) {
        written.push(await append(`${words.slice(1).join(" ")} ${at}`));
      }
      return { ids: written };
    }
    case "known":
      return { ids: ids(session) };
    case "reopen":
      return { ids: ids(await open()) };
    default:
      return { error: `unknown command ${verb}` };
  }
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  let said;
  try {
    said = await answer(line);
  } catch (error) {
    said = { error: String(error?.stack ?? error) };
  }
  process.stdout.write(JSON.stringify(said) + "\n");
}
process.exit(0);
