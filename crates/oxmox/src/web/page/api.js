// The way to the server.

export class Failed extends Error {
  constructor(status, message, hint) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

let whenSignedOut = () => {};
export function onSignedOut(then) { whenSignedOut = then; }

/// What the sign-in answered. The cookie goes to every port of this host; this is kept for this page's origin alone, in all its tabs.
const PROOF = "oxmox-proof";
export function keepProof(proof) { localStorage.setItem(PROOF, proof); }
export function forgetProof() { localStorage.removeItem(PROOF); }
let whenOther = () => {};
/// Browsers tell this to all tabs but the one that did it.
export function onOtherProof(then) {
  whenOther = then;
  addEventListener("storage", ({ key, oldValue, newValue }) => { if (key === null || (key === PROOF && oldValue !== newValue)) then(); });
  // A page that was left and is come back to was told nothing meanwhile.
  addEventListener("pageshow", ({ persisted }) => { if (persisted) then(); });
}
/// What this page goes by as long as it names somebody: with another's it would decide as another than it says.
let own = null;
function proof() {
  // A browser that keeps nothing signs nobody in, and says so then.
  try { return localStorage.getItem(PROOF) ?? "none"; } catch { return "none"; }
}

async function request(method, path, body, signal) {
  const sent = own ?? proof();
  let answer;
  try {
    answer = await fetch(`/api/${path}`, {
      method,
      signal,
      credentials: "same-origin",
      // Only this page can send the header: that is how the server knows it.
      headers: { "X-Oxmox-Page": sent, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failed(0, "The server cannot be reached.");
  }
  const data = await answer.json().catch(() => ({}));
  if (answer.ok) return data;
  if (answer.status === 401 && path !== "sign-in") {
    if (proof() !== sent) {
      whenOther();
      throw new Failed(0, "Somebody has signed in meanwhile, in another tab.");
    }
    whenSignedOut();
  }
  throw new Failed(answer.status, data.error ?? inWords(answer), data.hint);
}

/// An answer that came without words for people.
function inWords(answer) {
  if (answer.status !== 429) return `The server answered ${answer.status}.`;
  const seconds = Number(answer.headers.get("Retry-After")) || 1;
  return `Too many requests came from here: try again in ${seconds} ${seconds === 1 ? "second" : "seconds"}.`;
}

export const get = (path, signal) => request("GET", path, undefined, signal);
export const post = (path, body, signal) => request("POST", path, body, signal);

/// Who is signed in: `me.names_clusters` says whether tools have to be told which cluster is meant.
export let me = null;
export async function learnWhoIAm() {
  const mine = proof();
  me = await get("me");
  own = mine;
  return me;
}
export function forgetWhoIAm() { me = null; own = null; }

/// A tool that only looks.
export function look(tool, args = {}, { cluster, signal } = {}) {
  const named = cluster && me?.names_clusters ? { ...args, cluster } : args;
  return post(`look/${tool}`, named, signal);
}

/// The address of a task's news.
export function taskNews(cluster, upid) {
  const task = me?.names_clusters ? `${cluster}~${upid}` : upid;
  return `/api/follow/${encodeURIComponent(task)}`;
}
