// What was said to a turn that runs and that the model does not have yet. It is shown, it can be taken out, and it is never lost:
// what nobody heard goes back to where it was written.

/** What this window said, in its order. */
let said = [];
/** What is to be taken out. */
let wanted = [];

/** Remembers what is said to a turn; returns how to forget it, when it did not arrive. */
export function remember(id, run, text) {
  const one = { id, run, text, isSeen: false };
  said.push(one);
  return { arrived: () => (one.hasArrived = true), forget: () => (said = said.filter((other) => other !== one)) };
}

/** Remembers that a text is to be taken out. */
export function want(id, text) {
  const one = { id, text };
  wanted.push(one);
  return () => (wanted = wanted.filter((other) => other !== one));
}

/** Takes note of what waits. What is there no more was told, or was taken out: that is returned when this window wanted it. */
export function notice(id, { texts, taken_out: out }) {
  const rest = [...texts];
  said = said.filter((one) => {
    if (one.id !== id) return true;
    const at = rest.indexOf(one.text);
    if (at < 0) return !one.isSeen;
    rest.splice(at, 1);
    return (one.isSeen = true);
  });
  const at = wanted.findIndex((one) => one.id === id && one.text === out);
  return at < 0 ? null : wanted.splice(at, 1)[0].text;
}

/** Takes note of the end of a turn: returns what of it nobody heard, what this window said and what others did. */
export function ended({ session, run, end }) {
  const mine = said.filter((one) => one.id === session && one.run === run);
  said = said.filter((one) => !mine.includes(one));
  wanted = wanted.filter((one) => one.id !== session);
  // How it ended is not always known: what waited until then was not heard.
  const unheard = end?.unheard ?? mine.filter((one) => one.isSeen || one.hasArrived).map((one) => one.text);
  const own = mine.map((one) => one.text);
  const isOwn = (text) => {
    const at = own.indexOf(text);
    if (at >= 0) own.splice(at, 1);
    return at >= 0;
  };
  const [ours, others] = [[], []];
  for (const text of unheard) (isOwn(text) ? ours : others).push(text);
  return { ours, others };
}

/** Which turns of a session this window said something to that was not heard yet. */
export const turnsOf = (id) => [...new Set(said.filter((one) => one.id === id).map((one) => one.run))];
