// The frame: who is signed in, which part is shown, what the server tells meanwhile.

import { fill, h, failure, say } from "./dom.js";
import { forgetProof, forgetWhoIAm, get, learnWhoIAm, me, onOtherProof, onSignedOut, post } from "./api.js";
import { listenTo } from "./stream.js";
import { signIn } from "./sign-in.js";
import { inbox } from "./inbox.js";
import { inventory } from "./inventory.js";
import { guest } from "./guest.js";
import { task, tasks } from "./tasks.js";
import { audit } from "./audit.js";
import { findings } from "./findings.js";

const PARTS = [
  ["inbox", "Inbox", inbox],
  ["inventory", "Inventory", inventory],
  ["tasks", "Tasks", tasks],
  ["findings", "Findings", findings],
  ["audit", "Audit", audit],
];
const MORE = { guest, task };
const WITHIN = { guest: "inventory", task: "tasks" }; // where one finds them

const main = document.getElementById("main");
const top = document.getElementById("top");
const AGAIN_HIDDEN = 15_000; // milliseconds
const CODE = /^#sign-in=([\w-]+)$/;
let shown = null; // what is on the page: {leave, seen}
let unlisten = null;
let last = null; // what the stream told last
let waiting = 0;

function badge() {
  const count = document.getElementById("waiting");
  if (!count) return;
  count.textContent = waiting || "";
  count.hidden = waiting === 0;
  document.title = waiting ? `(${waiting}) oxmox` : "oxmox";
}

async function count() {
  try {
    const { plans } = await get("inbox");
    waiting = plans.length;
    badge();
  } catch { /* the part that is shown says so */ }
}

function frame() {
  const links = PARTS.map(([path, title]) => h("li", {},
    h("a", { href: `#/${path}`, "data-part": path }, title,
      path === "inbox" && h("span", { id: "waiting", class: "count", hidden: true }))));
  fill(top,
    h("a", { class: "brand", href: "#/inbox", "aria-label": "oxmox, home" }, "oxmox"),
    h("nav", { "aria-label": "Parts" }, h("ul", {}, links)),
    h("div", { class: "who" },
      h("span", { title: `may ${me.may}` }, me.name),
      h("button", { type: "button", class: "plain small", onclick: leave }, "Sign out")));
  top.hidden = false;
  badge();
}

async function leave() {
  try {
    await post("sign-out", {});
  } catch ({ status, message }) {
    // Who thinks that they are signed out leaves the cookie to whoever comes next.
    if (status !== 401) { say(`You are still signed in: ${message}`, "bad"); return; }
  }
  forgetProof();
  signedOut();
}

function signedOut() {
  forgetWhoIAm();
  unlisten?.();
  unlisten = null;
  shown?.leave?.();
  shown = null;
  top.hidden = true;
  document.title = "oxmox";
  signIn(main, null, start);
}

/// #/guest/demo/100 -> ["guest", "demo", "100"]
function place() {
  try {
    return location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent).filter(Boolean);
  } catch {
    return []; // an address that somebody mistyped
  }
}

async function show(focus) {
  if (!me) return;
  const [path = "inbox", ...rest] = place();
  const part = PARTS.find(([name]) => name === path)?.[2] ?? MORE[path] ?? inbox;
  for (const link of top.querySelectorAll("[data-part]")) {
    const current = link.dataset.part === (WITHIN[path] ?? path);
    if (current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  shown?.leave?.();
  document.getElementById("said").replaceChildren();
  const view = h("div", { class: "part" });
  fill(main, view);
  scrollTo(0, 0);
  try {
    shown = part(view, rest) ?? {};
    // What it loads first is no older than that.
    if (last) shown.known?.(last);
  } catch (error) {
    fill(view, failure(error));
  }
  if (focus) main.focus({ preventScroll: true });
}

/// While the page is seen. Browsers have six connections for all tabs together: one that nobody sees must hold none.
function listen() {
  unlisten?.();
  unlisten = document.hidden ? null : listenTo("/api/events", { seen: (seen) => { last = seen; count(); shown?.seen?.(seen); } });
}

async function start() {
  await learnWhoIAm();
  frame();
  listen();
  await count();
  await show(false);
}

// "/" goes to the search, as on many pages.
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, dialog");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const search = main.querySelector("input[type=search]");
    if (search) { event.preventDefault(); search.focus(); }
  }
});
document.addEventListener("visibilitychange", () => {
  if (!me) return;
  // The first that a stream tells is how things stand, so that what was missed is loaded.
  listen();
  if (document.hidden) shown?.hide?.();
  else shown?.unhide?.();
});
// The title tells also behind other tabs how much waits.
setInterval(() => { if (me && document.hidden) count(); }, AGAIN_HIDDEN);
addEventListener("hashchange", () => {
  // The link of the skip is no place.
  if (location.hash === "#main") { main.focus(); return; }
  // The link of the server, in a tab that has the page already: it is read when the page begins.
  if (CODE.test(location.hash)) { location.reload(); return; }
  show(true);
});
onSignedOut(signedOut);
// In another tab somebody else has come, or gone: this one would name the one and decide as the other.
onOtherProof(() => location.reload());

const code = CODE.exec(location.hash)?.[1];
// The code is used once, and stays in no history.
if (code) history.replaceState(null, "", "/");
start().catch((error) => {
  if (error.status === 401) signIn(main, code, start);
  else fill(main, failure(error));
});
