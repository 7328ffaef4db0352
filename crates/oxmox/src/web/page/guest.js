// One guest: how it is, how it was, what is on its screen.

import { failure, fill, h } from "./dom.js";
import { look } from "./api.js";
import { chart } from "./chart.js";
import { duration, size, time } from "./words.js";

const SHOWN = ["cpu", "mem", "netin", "netout", "diskread", "diskwrite"];

export function guest(view, [cluster, id]) {
  const vmid = Number(id);
  const about = h("div", {}, h("p", { class: "quiet" }, "Loading …"));
  const charts = h("div", { class: "charts" });
  const span = h("select", { id: "span", onchange: history },
    ["hour", "day", "week", "month", "year"].map((word) => h("option", { value: word }, word)));
  const screen = h("div", {});
  const more = h("div", { class: "more" });
  const title = h("h1", {}, `Guest ${id}`);
  fill(view, h("p", {}, h("a", { href: "#/inventory" }, "← Inventory")), title, about,
    h("section", { class: "card" }, h("h2", {}, "History"),
      h("p", { class: "filters" }, h("span", {}, h("label", { for: "span" }, "The last"), span)), charts), screen, more);
  let gone = false;

  async function status() {
    try {
      const include = ["config", "snapshots", "addresses", "tasks"];
      const { data } = await look("get_proxmox_vm_status", { vmid, include }, { cluster });
      if (gone) return;
      title.textContent = `${data.name ?? ""} (${data.kind === "lxc" ? "container" : "VM"} ${data.vmid})`;
      fill(about, facts(data));
      fill(more, details(cluster, data));
      if (data.kind === "qemu") fill(screen, screenCard(data.status === "running"));
    } catch (error) { fill(about, failure(error)); }
  }

  async function history() {
    try {
      const { data } = await look("get_proxmox_metrics", { vmid, timeframe: span.value, chart: false, points: true }, { cluster });
      if (gone) return;
      const shown = data.series.filter((series) => SHOWN.includes(series.name) && series.points?.length);
      fill(charts, shown.length ? shown.map((series) => chart(series, data.step)) : h("p", { class: "empty" }, "Nothing was recorded."));
    } catch (error) { fill(charts, failure(error)); }
  }

  function screenCard(running) {
    const picture = h("div", { class: "screen" });
    const button = h("button", { type: "button", class: "plain", disabled: !running, onclick: async () => {
      button.disabled = true;
      try {
        const { data, images } = await look("capture_vm_screen", { vmid }, { cluster });
        const text = (data.text ?? []).toString();
        fill(picture, images.map((png) => h("img", { src: `data:image/png;base64,${png}`, alt: text ? `Screen with the text: ${text}` : "The screen" })));
      } catch (error) { fill(picture, failure(error)); }
      button.disabled = false;
    } }, "Look at the screen");
    return h("section", { class: "card" }, h("h2", {}, "Screen"),
      h("p", { class: "quiet" }, running ? "A look inside is recorded in the audit trail." : "It is not running."), h("p", {}, button), picture);
  }

  status();
  history();
  return { leave: () => { gone = true; } };
}

function facts(data) {
  const rows = [
    ["status", h("span", { class: `state ${data.status}` }, data.status)], ["node", data.node],
    ["up for", data.uptime && duration(data.uptime)],
    ["CPU", data.cpu !== undefined && `${(data.cpu * 100).toFixed(1)} % of ${data.cpus}`],
    ["memory", data.memory_total && `${size(data.memory_used)} of ${size(data.memory_total)}`],
    ["pool", data.pool], ["tags", data.tags?.length && data.tags.map((tag) => h("span", { class: "tag" }, tag))],
    ["lock", data.lock], ["protected", data.protection && "yes"],
    ["addresses", data.addresses?.length && h("ul", {}, data.addresses.map((text) => h("li", {}, text)))],
  ];
  return h("dl", { class: "card facts" }, rows.filter(([, value]) => value)
    .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

function details(cluster, data) {
  const part = (name, rows) => rows?.length ? h("details", { class: "card" }, h("summary", {}, `${name} (${rows.length})`), h("ul", { class: "plain-list" }, rows)) : null;
  return [
    part("Disks", data.disks?.map((disk) => h("li", {}, h("b", {}, disk.key), " ", h("code", {}, disk.volume ?? ""), " ", size(disk.size)))),
    part("Snapshots", data.snapshots?.map((it) => h("li", {}, h("b", {}, it.name), " ", time(it.taken)))),
    part("Tasks", data.tasks?.map((it) => h("li", {}, h("a", { href: `#/task/${encodeURIComponent(cluster)}/${encodeURIComponent(it.upid)}` }, it.task_type), ` ${time(it.started)} ${it.status ?? "running"}`))),
    part("Settings", Object.entries(data.config ?? {}).map(([key, value]) => h("li", {}, h("b", {}, key), " ", h("code", {}, String(value))))),
  ];
}
