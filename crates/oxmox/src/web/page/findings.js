// Findings: problems and risks that the checks found, and the checks that did not run.

import { failure, fill, h } from "./dom.js";
import { look } from "./api.js";
import { plain } from "./words.js";

export function findings(view) {
  const list = h("div", {}, h("p", { class: "quiet" }, "Checking …"));
  const severity = h("select", { id: "severity", onchange: load }, h("option", { value: "" }, "all"),
    ["notice", "warning", "critical"].map((word) => h("option", { value: word }, `${word} or worse`)));
  fill(view, h("h1", {}, "Findings"), h("form", { class: "filters" }, h("div", {}, h("label", { for: "severity" }, "Show"), severity)), list);
  let last = 0;
  async function load() {
    const mine = ++last;
    view.setAttribute("aria-busy", "true");
    try {
      const { data } = await look("list_proxmox_findings", { limit: 20, ...(severity.value && { severity: severity.value }) });
      if (mine === last) fill(list, notChecked(data.unchecked), data.codes.map(code), data.codes.length === 0 && none(data.unchecked, severity.value));
    } catch (error) { if (mine === last) fill(list, failure(error)); }
    view.removeAttribute("aria-busy");
  }
  load();
  return { leave: () => { last += 1; } };
}

function code({ code: name, count, why, findings: found }) {
  const rest = count - found.length;
  return h("section", { class: "card" }, h("h2", {}, plain(name), " ", h("span", { class: "count" }, count)), h("p", { class: "quiet" }, why),
    h("ul", { class: "plain-list" }, found.map((it) => h("li", {}, h("span", { class: `state ${it.severity}` }, it.severity), " ",
      h("b", {}, it.object), it.node && h("span", { class: "quiet" }, ` on ${it.node}`), ` ${it.what}`))),
    rest > 0 && h("p", { class: "quiet" }, `and ${rest} more`));
}

/// The checks that did not run everywhere, above the findings: a list of findings must not look complete when it is not.
function notChecked(gaps) {
  return gaps.length > 0 && h("section", { class: "card", id: "not-checked" },
    h("h2", {}, "Not checked ", h("span", { class: "count" }, gaps.length)),
    h("p", { class: "alert warn" }, "These checks could not run, or not everywhere. Problems there are not listed below."),
    h("ul", {}, gaps.map(gap)));
}

/// "update_pending, snapshot_old: offline: pve2" with the checks in words.
function gap(text) {
  const at = text.indexOf(": ");
  return h("li", {}, h("b", {}, plain(text.slice(0, at))), text.slice(at));
}

/// The text for an empty list. It says that all checks ran only if they did.
function none(gaps, severity) {
  const all = severity ? `No findings (${severity} or worse). All checks for these ran.` : "No findings. All checks ran.";
  return h("p", { class: "empty" }, gaps.length > 0 ? "No findings in the checks that ran." : all);
}
