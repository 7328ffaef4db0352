// Everything there is, searched on the server; only the rows in sight are in the page.

import { failure, fill, h } from "./dom.js";
import { look, me } from "./api.js";
import { size } from "./words.js";

const ROW = 44; // as in the style sheet
const PAGE = 500;
const KINDS = [["guest", "Guests"], ["qemu", "VMs"], ["lxc", "Containers"], ["node", "Nodes"], ["storage", "Storages"]];
const SORTS = [["", "id"], ["name", "name"], ["-cpu", "CPU, most first"], ["-mem", "memory, most first"], ["-size", "disk, largest first"]];
const LATER = 200; // milliseconds between the last key and the search

export function inventory(view) {
  const search = h("input", { type: "search", id: "search", autocomplete: "off", spellcheck: "false",
    placeholder: "web status:running tag:prod cpu>80", oninput: soon });
  const kind = h("select", { id: "kind", onchange: begin }, KINDS.map(([value, text]) => h("option", { value }, text)));
  const sort = h("select", { id: "sort", onchange: begin }, SORTS.map(([value, text]) => h("option", { value }, text)));
  const found = h("p", { class: "quiet", role: "status", id: "found" });
  const problem = h("div", {});
  const body = h("div", { class: "rows", role: "rowgroup" });
  const scroller = h("div", { class: "list", tabindex: "0", role: "table", "aria-label": "Inventory", onscroll: () => requestAnimationFrame(draw) },
    h("div", { class: "row head", role: "row" }, ["id", "name", "status", "node", "CPU", "memory", "disk", "tags"]
      .map((name) => h("span", { role: "columnheader", class: name }, name))), body);
  fill(view, h("h1", {}, "Inventory"),
    h("form", { class: "filters", role: "search", onsubmit: (event) => { event.preventDefault(); begin(); } },
      h("div", { class: "grow" }, h("label", { for: "search" }, "Search"), search),
      h("div", {}, h("label", { for: "kind" }, "Show"), kind),
      h("div", {}, h("label", { for: "sort" }, "Order"), sort)),
    found, problem, scroller);

  let rows = []; // those that were loaded, in order
  const drawn = new Map(); // those in sight, by their place
  let total = 0;
  let cursor = null;
  let under = null; // the request on its way
  let timer;

  function soon() { clearTimeout(timer); timer = setTimeout(begin, LATER); }

  function begin() {
    clearTimeout(timer);
    under?.abort();
    under = null;
    cursor = null;
    more(true);
  }

  async function more(anew = false) {
    if (under) return;
    const mine = new AbortController();
    under = mine;
    view.setAttribute("aria-busy", "true");
    const args = {
      resource_type: kind.value, limit: PAGE,
      fields: ["id", "type", "name", "node", "cluster", "status", "cpu", "mem", "size", "memory", "tags"],
      ...(search.value.trim() && { filter: search.value.trim() }),
      ...(sort.value && { sort: sort.value }), ...(cursor && { cursor }),
    };
    try {
      const { data } = await look("list_proxmox_resources", args, { signal: mine.signal });
      if (under !== mine) return;
      if (anew) { rows = []; drawn.clear(); body.replaceChildren(); scroller.scrollTop = 0; }
      rows.push(...data.resources);
      cursor = data.next_cursor ?? null;
      total = cursor ? data.total ?? rows.length : rows.length;
      found.textContent = `${total.toLocaleString()} found${data.notes ? ` · ${data.notes.join(" · ")}` : ""}`;
      fill(problem);
    } catch (error) {
      if (error.name === "AbortError") return;
      fill(problem, failure(error));
      cursor = null;
    }
    under = null;
    view.removeAttribute("aria-busy");
    draw();
  }

  function draw() {
    const height = scroller.clientHeight;
    const first = Math.max(0, Math.floor(scroller.scrollTop / ROW) - 10);
    const last = Math.min(total, first + Math.ceil(height / ROW) + 20);
    body.style.height = `${total * ROW}px`;
    scroller.setAttribute("aria-rowcount", total + 1);
    // Rows that stay are left alone: one of them may have the focus.
    for (const [at, node] of drawn) {
      const came = rows[at] && node.dataset.empty !== undefined;
      if (at < first || at >= last || came) { node.remove(); drawn.delete(at); }
    }
    let before = null;
    for (let at = first; at < last; at += 1) {
      let node = drawn.get(at);
      if (!node) {
        node = line(rows[at], at);
        drawn.set(at, node);
        if (before) before.after(node);
        else body.prepend(node);
      }
      before = node;
    }
    if (last > rows.length && cursor) more();
  }

  function line(item, at) {
    const cell = (name, ...what) => h("span", { role: "cell", class: name }, what);
    const row = h("div", { class: "row", role: "row", "aria-rowindex": at + 2 });
    row.style.transform = `translateY(${at * ROW}px)`;
    if (!item) { row.dataset.empty = ""; row.append(cell("name", "…")); return row; }
    const cluster = item.cluster ?? me.clusters[0];
    const isGuest = item.type === "qemu" || item.type === "lxc";
    const name = item.name ?? item.id;
    row.append(cell("id", isGuest ? item.id : item.type ?? ""),
      cell("name", isGuest ? h("a", { href: `#/guest/${encodeURIComponent(cluster)}/${item.id}` }, name) : name),
      cell("status", item.status && h("span", { class: `state ${item.status}` }, item.status)),
      cell("node", item.node ?? "", me.names_clusters && ` (${cluster})`),
      cell("CPU", share(item.cpu)), cell("memory", share(item.mem), item.memory && h("small", {}, size(item.memory))),
      cell("disk", size(item.size)), cell("tags", (item.tags ?? "").split(";").filter(Boolean).map((tag) => h("span", { class: "tag" }, tag))));
    return row;
  }

  const resized = new ResizeObserver(draw);
  resized.observe(scroller);
  begin();
  return { leave: () => { clearTimeout(timer); under?.abort(); resized.disconnect(); } };
}

function share(percent) {
  if (percent === undefined) return "";
  return [h("meter", { min: 0, max: 100, high: 80, value: Math.min(100, percent), "aria-hidden": "true" }), `${percent} %`];
}
