// What waits for a person: everything that would be sent, and the decision on exactly that.

import { ask, failure, fill, h, say } from "./dom.js";
import { get, post } from "./api.js";
import { duration, plain, size } from "./words.js";

const AGAIN = 3000; // milliseconds
const GRAVE = new Set(["destroy", "grant"]);

export function inbox(view, [wanted]) {
  const problem = h("div", {});
  const list = h("div", { class: "plans" });
  const nothing = h("p", { class: "empty" }, "Nothing waits for you.");
  const done = h("div", { class: "plans" });
  const title = h("h1", { tabindex: "-1" }, "Inbox");
  fill(view, title, h("p", { class: "quiet" }, "Changes that wait for a person's yes."), problem, list, done);
  const cards = new Map(); // by id and digest, so that nothing moves under a finger
  const followed = [];
  let skew = 0;
  let last = 0; // which load is the newest
  let drawn = 0; // which one is shown: an older one that answers later knows less
  let wasSought = false; // whether it is known that the wanted plan waits or not
  let gone = false;

  async function load() {
    const mine = ++last;
    let answer;
    try {
      answer = await get("inbox");
    } catch (error) {
      if (gone || error.status === 401 || mine < drawn) return;
      fill(problem, failure(error));
      // Nothing else may ever happen.
      setTimeout(() => { if (!gone && mine === last) load(); }, AGAIN);
      return;
    }
    if (gone || mine < drawn) return;
    drawn = mine;
    skew = answer.now - Date.now() / 1000;
    const keys = new Set(answer.plans.map((plan) => `${plan.id} ${plan.digest}`));
    for (const [key, { node }] of cards) if (!keys.has(key)) { node.remove(); cards.delete(key); }
    fill(problem);
    for (const plan of answer.plans) {
      const key = `${plan.id} ${plan.digest}`;
      // The rules may have changed, and with them what is refused of the same plan.
      const refused = JSON.stringify([plan.plan.blockers, plan.may_not_approve]);
      const old = cards.get(key);
      if (old?.refused === refused) continue;
      const node = card(plan, decide);
      cards.set(key, { node, refused });
      if (old) { takePlace(node, old.node); continue; }
      list.append(node);
      if (plan.id === wanted) node.scrollIntoView({ block: "start" });
    }
    if (cards.size === 0) list.append(nothing); else nothing.remove();
    tick();
    // An address that an agent was given, opened after somebody has decided, or too late. Only whoever knows what waits can tell.
    if (wanted && !wasSought && !answer.plans.some(({ id }) => id === wanted)) followed.push(follow({ id: wanted }, done));
    wasSought = true;
  }

  function tick() {
    for (const left of list.querySelectorAll("[data-expires]")) {
      left.textContent = duration(Number(left.dataset.expires) - Date.now() / 1000 - skew);
    }
  }

  async function decide(plan, approve, buttons, lease = false) {
    if (approve) {
      const more = lease && " All keys and text on this VM's console for ten minutes are approved with it.";
      const text = h("p", {}, plan.plan.summary, " on cluster ", plan.cluster, ".", more);
      const grave = GRAVE.has(plan.plan.risk);
      if (!await ask("Approve this change?", text, "Yes, approve", grave ? "bad" : "good")) return;
    }
    const open = buttons.filter((button) => !button.disabled);
    for (const button of open) button.disabled = true;
    try {
      await post(`inbox/${encodeURIComponent(plan.id)}`, { approve, digest: plan.digest, lease });
      say(approve ? `Approved: ${plan.plan.summary}` : `Rejected: ${plan.plan.summary}`, approve ? "good" : "plain");
      if (approve) followed.push(follow({ ...plan, summary: plan.plan.summary }, done));
    } catch (error) {
      say(`${error.message}${error.hint ? ` — ${error.hint}` : ""}`, "bad");
      for (const button of open) button.disabled = false;
    }
    await load();
    // The buttons are gone; whoever came by keyboard goes on from here.
    title.focus();
  }

  const timer = setInterval(tick, 1000);
  load();
  return { seen: load, leave: () => { gone = true; clearInterval(timer); for (const stop of followed) stop(); } };
}

function card({ id, digest, cluster, caller, expires, plan, may_not_approve: refusal, ...rest }, decide) {
  const whole = { id, digest, cluster, caller, expires, plan, ...rest };
  const lease = h("input", { type: "checkbox" });
  const buttons = [
    h("button", { type: "button", class: GRAVE.has(plan.risk) ? "bad" : "good", disabled: Boolean(refusal) || rest.types_secret,
      onclick: () => decide(whole, true, buttons, lease.checked) }, "Approve"),
    h("button", { type: "button", class: "plain", onclick: () => decide(whole, false, buttons) }, "Reject"),
  ];
  const canReveal = rest.types_secret && !refusal;
  return h("article", { class: `card plan ${plan.risk}`, "aria-labelledby": `plan-${id}`, "data-plan": id },
    h("header", {},
      h("span", { class: `risk ${plan.risk}` }, plan.risk),
      h("h2", { id: `plan-${id}` }, plan.summary)),
    h("p", { class: "quiet" }, "asked for by ", h("b", {}, caller), " on ", h("b", {}, cluster),
      " · plan ", h("code", {}, id), " · expires in ", h("span", { "data-expires": expires })),
    plan.warnings.map((text) => h("p", { class: "alert warn" }, text)),
    plan.blockers.map((text) => h("p", { class: "alert bad" }, "Would be refused: ", text)),
    affected(plan.affects),
    h("h3", {}, "What is sent"),
    h("ol", { class: "sends" }, plan.steps.map((step) => h("li", {},
      h("span", {}, step.step), h("code", { class: "request" }, step.request),
      step.then && h("span", { class: "quiet" }, `then checked: ${step.then}`)))),
    plan.irreversible && h("p", { class: "alert warn" }, "Cannot be undone: ", plan.irreversible),
    plan.undo && h("p", { class: "quiet" }, "Undone by ",
      h("code", {}, `${plan.undo.tool} ${JSON.stringify(plan.undo.arguments)}`)),
    canReveal && secretText(whole, () => { buttons[0].disabled = false; }),
    refusal && h("p", { class: "alert warn" }, "You cannot approve it: ", refusal),
    rest.can_lease && !refusal && h("p", {}, h("label", {}, lease, " Also approve all keys and text on this VM's console for ten minutes")),
    h("p", { class: "buttons" }, buttons));
}

/// The secret text that a plan types: shown when the person asks for it, and approved only after that.
function secretText({ id, digest }, whenShown) {
  const place = h("div", {});
  const button = h("button", { type: "button", class: "plain", onclick: async () => {
    button.disabled = true;
    try {
      const { texts } = await post(`inbox/${encodeURIComponent(id)}/reveal`, { digest });
      // In quotation marks, so that blanks at its ends are seen.
      fill(place, texts.map((text) => h("code", { class: "request" }, JSON.stringify(text))));
      whenShown();
    } catch (error) {
      say(`${error.message}${error.hint ? ` — ${error.hint}` : ""}`, "bad");
      button.disabled = false;
    }
  } }, "Reveal");
  return h("div", { class: "alert warn", "data-secret": id },
    h("p", {}, "It types a secret text. Read the text before you approve it: it may be a command."), place,
    h("p", { class: "buttons" }, button));
}

/// A card in the place of another. Who stands on a button by keyboard stays there.
function takePlace(node, old) {
  const at = [...old.querySelectorAll("button")].indexOf(document.activeElement);
  old.replaceWith(node);
  node.querySelectorAll("button")[at]?.focus();
}

/// What is affected, with sizes, and what a value was and becomes.
function affected(items) {
  if (items.length === 0) return null;
  const becomes = ({ kind, note }) => {
    // Values are anybody's words. Where they hold an arrow themselves, nobody can tell where the new one begins; and elsewhere an
    // arrow is a word like others.
    const values = kind === "setting" ? String(note ?? "").split(" -> ") : [];
    return values.length === 2 ? [h("del", {}, values[0]), " → ", h("ins", {}, values[1])] : note ?? "";
  };
  return [h("h3", {}, "What is affected"),
    h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "What is affected" }, h("table", {},
      h("thead", {}, h("tr", {}, ["effect", "what", "id", "size", "note"].map((name) => h("th", { scope: "col", class: name === "size" && "number" }, name)))),
      h("tbody", {}, items.map((item) => h("tr", {},
        h("td", {}, h("span", { class: `effect ${item.effect}` }, item.effect)),
        h("td", {}, item.kind), h("td", {}, h("code", {}, item.id)),
        h("td", { class: "number" }, size(item.bytes)), h("td", {}, becomes(item)))))))];
}

/// Nobody is told of a yes that was not given.
function beforeItBegins(approved, caller) {
  return approved ? `approved; ${caller ?? "who asked for it"} has not come back for it yet` : "waits for a decision";
}

/// What becomes of a plan: whoever asked for it applies it.
function follow({ id, summary, caller, cluster }, place) {
  const title = h("h2", {}, summary ?? `Plan ${id}`);
  const state = h("span", { class: "state" }, "…");
  const steps = h("ul", { class: "steps" });
  const trouble = h("div", {});
  place.prepend(h("article", { class: "card followed", "data-followed": id }, title, h("p", {}, state), trouble, steps));
  let goes = true;
  (async () => {
    while (goes) {
      try {
        const { outcome, ended, approved, doing } = await get(`plan/${encodeURIComponent(id)}`);
        const waits = outcome.status === "needs_confirmation";
        title.textContent = outcome.summary;
        state.textContent = waits ? beforeItBegins(approved, caller) : plain(outcome.status);
        state.className = `state ${outcome.status}`;
        const why = outcome.status === "not_applied" && outcome.next;
        fill(steps, (doing ?? why) && h("li", { class: "quiet" }, doing ?? why), waits ? null : outcome.steps.map((step) => h("li", {},
          h("span", { class: `state ${step.state}` }, plain(step.state)), " ", step.step,
          step.task && [" ", h("a", { href: `#/task/${encodeURIComponent(cluster ?? outcome.cluster)}/${encodeURIComponent(step.task)}` }, "log")],
          step.detail && h("span", { class: "quiet" }, ` ${step.detail}`))));
        fill(trouble);
        if (ended) return;
      } catch (error) {
        if (error.status === 404) { fill(state, error.message); fill(trouble); return; }
        // Anything else may be better in a moment; until then what is shown is as it was.
        if (error.status !== 401 && !trouble.firstChild) fill(trouble, failure({ message: error.message, hint: "How it stands now is not known; it is looked at again." }));
      }
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  })();
  return () => { goes = false; };
}
