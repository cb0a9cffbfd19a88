// The answer that comes in. Each piece of it is told once: whoever comes in the middle, or missed some, reads what was said so far,
// and no piece is lost or counts twice, whichever comes first.

/** Which answer of the turn is heard, and how many pieces of it are there. */
let at = { answer: 0, piece: 0 };
/** Pieces behind others that are missing. */
let later = [];

/** Nothing is known of what is said. */
export function forget(live) {
  begin(live);
  at = { answer: 0, piece: 0 };
}

/** An answer begins, or is in the log: its pieces come, or are over. */
export function begin(live) {
  Object.assign(live, { text: "", thinking: "" });
  at.piece = 0;
  later = [];
}

/** Takes a piece of the words or of the thoughts. Says whether those before it are there; if not, it waits for them. */
export function take(live, name, { answer, piece, text }) {
  const isSame = answer === at.answer;
  if (answer < at.answer || (isSame && piece <= at.piece)) return true;
  if (piece !== (isSame ? at.piece : 0) + 1) {
    later.push([name, { answer, piece, text }]);
    return false;
  }
  if (!isSame) Object.assign(live, { text: "", thinking: "" });
  live[name] += text;
  at = { answer, piece };
  return true;
}

/** Takes what the server kept of the answer. Says whether nothing is missing now. */
export function read(live, { answer, pieces, text, thinking, left_out: out }) {
  if (answer > at.answer || (answer === at.answer && pieces > at.piece)) {
    Object.assign(live, { text: out > 0 ? `${text}\n\n… ${out.toLocaleString("en")} more characters …\n\n` : text, thinking });
    at = { answer, piece: pieces };
  }
  const waiting = later;
  later = [];
  const isWhole = waiting.map(([name, piece]) => take(live, name, piece)).every(Boolean);
  // What does not fit even now is in what is read next, or of an answer that is over.
  later = [];
  return isWhole;
}
