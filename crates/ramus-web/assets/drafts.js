// What was written and not sent yet, by session: what is meant for one is never said in another. The window keeps it, so that a
// page that is loaded again still has it.

const drafts = new Map();

/** What is being written in a session, with which model it is to be sent, and what was sent of it without an answer. */
export function draft(id) {
  if (!drafts.has(id)) drafts.set(id, { ...kept(id), sending: null });
  return drafts.get(id);
}

function kept(id) {
  const { text, model, sent } = read(`draft-${id}`) ?? {};
  const pictures = read(`pictures-${id}`);
  return { text: String(text ?? ""), model: String(model ?? ""), pictures: Array.isArray(pictures) ? pictures : [], sent: sent ?? null };
}

/** Keeps the words of a session, and the model that was chosen. */
export function keep(id) {
  const { text, model, sent } = draft(id);
  write(`draft-${id}`, text || model || sent ? { text, model, sent } : null);
}

/** Keeps its pictures, as far as they fit: a window has little room. */
export function keepPictures(id) {
  const { pictures } = draft(id);
  write(`pictures-${id}`, pictures.length > 0 ? pictures : null);
}

function read(name) {
  try {
    return JSON.parse(sessionStorage.getItem(name));
  } catch {
    return null;
  }
}

function write(name, what) {
  try {
    sessionStorage.removeItem(name);
    if (what) sessionStorage.setItem(name, JSON.stringify(what));
  } catch {
    // What does not fit is there as long as the page is.
  }
}
