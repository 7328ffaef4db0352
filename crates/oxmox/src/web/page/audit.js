// Who asked for what, who said yes, what became of it, and whether the trail is whole.

import { failure, fill, h } from "./dom.js";
import { get, post } from "./api.js";
import { plain, time } from "./words.js";

const RESULTS = ["applied", "nothing_sent", "not_applied", "running", "unknown", "needs_confirmation", "refused", "failed", "approved", "rejected"];
const LATER = 200;

export function audit(view) {
  const words = h("input", { type: "search", id: "words", autocomplete: "off", placeholder: "who, what, plan", oninput: () => { clearTimeout(timer); timer = setTimeout(load, LATER); } });
  const result = h("select", { id: "result", onchange: () => load() }, h("option", { value: "" }, "any"),
    RESULTS.map((word) => h("option", { value: word }, plain(word))));
  const chain = h("p", { id: "chain", class: "quiet", role: "status" }, "Checking the chain …");
  const rows = h("div", { class: "attempts" });
  const added = h("p", {});
  const more = h("p", {});
  fill(view, h("h1", {}, "Audit trail"), chain,
    h("form", { class: "filters", role: "search", onsubmit: (event) => { event.preventDefault(); load(); } },
      h("div", { class: "grow" }, h("label", { for: "words" }, "Search"), words),
      h("div", {}, h("label", { for: "result" }, "Result"), result)), added, rows, more);
  let timer;
  let under = null; // the search on its way: it may read a hundred thousand entries, and is called off when another begins
  let isPaged = false; // older ones were asked for
  let isKnown = false; // the chain was walked from the beginning
  let seenAt;

  async function load(before) {
    under?.abort();
    const mine = new AbortController();
    under = mine;
    isPaged = Boolean(before);
    try {
      const answer = await post("audit", { words: words.value, result: result.value, ...(before && { before }) }, mine.signal);
      if (mine !== under) return;
      if (!before) { rows.replaceChildren(); fill(added); }
      // An entry that is open stays open while the rest is read anew.
      rows.append(...answer.rows.map(entry));
      if (!rows.firstChild) rows.append(h("p", { class: "empty" }, "Nothing was recorded that matches."));
      const oldest = answer.rows.at(-1)?.seq;
      fill(more, !answer.more && answer.back_to && h("span", { class: "quiet" }, `The last ${answer.searched.toLocaleString()} entries were searched, back to ${time(answer.back_to)}. `,
        h("code", {}, "oxmox audit export"), " prints all."), answer.more && h("button", { type: "button", class: "plain", onclick: () => load(oldest) }, "Older ones"));
    } catch (error) { if (mine === under) fill(rows, failure(error)); }
    if (mine === under) under = null;
  }

  /// From the beginning once, and then what is new.
  async function check() {
    try {
      const state = await get(isKnown ? "audit/chain/news" : "audit/chain");
      isKnown = true;
      chain.className = state.whole ? "quiet" : "alert bad";
      fill(chain, state.whole
        ? [h("span", { class: "state done" }, "whole"), ` ${state.entries.toLocaleString()} entries · head `, h("code", { class: "head" }, state.head)]
        : `The chain is broken at entry ${state.broken_at}: it was edited, removed or put elsewhere. What follows cannot be trusted.`);
    } catch (error) { fill(chain, error.message); }
  }

  /// A search is made again by whoever wants that, and nothing is taken from under a finger.
  async function refresh() {
    const isLookedAt = words.value || result.value || isPaged || rows.querySelector("details[open]");
    if (isLookedAt) fill(added, h("button", { type: "button", class: "plain", onclick: () => load() }, "Entries were added: look again"));
    else await load();
  }

  const recheck = oneAtATime(check);
  const reload = oneAtATime(refresh);
  load();
  recheck();
  return { leave: () => { clearTimeout(timer); under?.abort(); under = null; }, known: ({ audit: at }) => { seenAt = at; }, seen: ({ audit: at }) => {
    if (seenAt !== undefined && seenAt !== at) { reload(); recheck(); }
    seenAt = at;
  } };
}

/// What is wanted while it is done is done once more, afterwards, however often it was wanted.
function oneAtATime(work) {
  let goes = false;
  let again = false;
  return async () => {
    again = goes;
    if (goes) return;
    goes = true;
    do { again = false; await work(); } while (again);
    goes = false;
  };
}

/** Who asked, as whom PVE knows them if they brought a token of their own, and who decided. */
function who(row) {
  if (row.decided_by) return `${row.decided_by}, asked by ${row.caller}`;
  const identity = row.pve_identity ? ` as ${row.pve_identity}` : "";
  return `${row.caller}${identity}${row.confirmed_by ? `, yes by ${row.confirmed_by}` : ""}`;
}

function entry(row) {
  const result = row.result ?? "open: may have been sent";
  const fact = (name, value) => value ? h("div", {}, h("dt", {}, name), h("dd", {}, value)) : null;
  return h("details", { class: "card attempt" },
    h("summary", {}, h("span", { class: `state ${row.result ?? "unknown"}` }, plain(result)),
      h("span", { class: "what" }, row.summary ?? row.tool),
      h("span", { class: "quiet" }, `${who(row)}${row.reason ? `, ${row.reason}` : ""} · ${time(row.at)}`)),
    h("dl", { class: "facts" }, fact("entry", String(row.seq)), fact("plan", h("code", {}, row.plan)), fact("tool", h("code", {}, row.tool)), fact("cluster", row.cluster),
      fact("risk", row.risk && h("span", { class: `risk ${row.risk}` }, row.risk)), fact("ended", time(row.ended)), fact("reason", row.reason),
      fact("arguments", row.arguments && h("code", {}, JSON.stringify(row.arguments))), fact("digest", row.digest && h("code", { class: "head" }, row.digest)),
      fact("steps", row.steps?.length && h("ul", {}, row.steps.map((step) => h("li", {}, h("span", { class: `state ${step.state}` }, plain(step.state)), " ", step.step,
        step.detail && h("span", { class: "quiet" }, ` ${step.detail}`), step.task && h("code", { class: "head" }, step.task)))))));
}
