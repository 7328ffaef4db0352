// What is wrong or risky.

import { failure, fill, h } from "./dom.js";
import { look } from "./api.js";
import { plain } from "./words.js";

export function findings(view) {
  const list = h("div", {}, h("p", { class: "quiet" }, "Looking …"));
  const severity = h("select", { id: "severity", onchange: load }, h("option", { value: "" }, "all"),
    ["notice", "warning", "critical"].map((word) => h("option", { value: word }, `${word} or worse`)));
  fill(view, h("h1", {}, "Findings"), h("form", { class: "filters" }, h("div", {}, h("label", { for: "severity" }, "Show"), severity)), list);
  let last = 0;
  async function load() {
    const mine = ++last;
    view.setAttribute("aria-busy", "true");
    try {
      const { data } = await look("list_proxmox_findings", { limit: 20, ...(severity.value && { severity: severity.value }) });
      if (mine === last) fill(list, (data.codes ?? []).map(code), (data.codes ?? []).length === 0 && h("p", { class: "empty" }, "Nothing was found."), notes(data));
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

/// What could not be looked at is never taken as fine.
function notes(data) {
  const said = [...(data.not_checked ?? []), ...(data.notes ?? [])];
  return said.length ? h("section", { class: "card" }, h("h2", {}, "Not checked"), h("ul", {}, said.map((text) => h("li", {}, typeof text === "string" ? text : JSON.stringify(text))))) : null;
}
