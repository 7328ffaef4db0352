// What the clusters are doing and did lately, and one task as it goes on.

import { failure, fill, h } from "./dom.js";
import { get, me, taskNews } from "./api.js";
import { listenTo } from "./stream.js";
import { duration, plain, time } from "./words.js";

const AGAIN = 2000; // milliseconds

export function tasks(view) {
  const problems = h("div", {});
  const list = h("div", {}, h("p", { class: "quiet" }, "Loading …"));
  fill(view, h("h1", {}, "Tasks"), h("p", { class: "quiet" }, "What runs on the clusters, and what ran lately."), problems, list);
  const { clusters } = me;
  const told = new Map(); // of each cluster: its tasks as it last told them, and what went wrong since
  let gone = false;
  let shown;

  async function of(cluster) {
    const { tasks: rows, left_out: ended } = await get(`tasks/${encodeURIComponent(cluster)}`);
    const left = ended > 0 && `Of ${cluster} ${ended} older tasks that have ended are left out.`;
    return { rows: rows.map((row) => ({ ...row, cluster })), left };
  }

  /// Each at its own pace: one that is silent, or slow to say no, takes nothing from what the others tell.
  async function keepLooking(cluster) {
    while (!gone) {
      // Behind another tab nobody looks.
      if (!document.hidden) try {
        told.set(cluster, await of(cluster));
      } catch ({ message, hint }) {
        const named = me?.names_clusters ? `${cluster}: ${message}` : message;
        told.set(cluster, { ...told.get(cluster), problem: { message: named, hint } });
      }
      if (!gone) draw();
      await new Promise((resolve) => setTimeout(resolve, AGAIN));
    }
  }

  function draw() {
    const all = [...told.values()].flatMap(({ rows }) => rows ?? []);
    all.sort((a, b) => (a.endtime ? 1 : 0) - (b.endtime ? 1 : 0) || b.starttime - a.starttime || (a.upid < b.upid ? -1 : 1));
    const wrong = clusters.map((cluster) => told.get(cluster)?.problem).filter(Boolean);
    const unknown = clusters.filter((cluster) => !told.has(cluster));
    const left = clusters.map((cluster) => told.get(cluster)?.left).filter(Boolean);
    const anew = JSON.stringify([all, wrong, unknown, left]);
    if (anew === shown) return;
    shown = anew;
    fill(problems, wrong.map(failure), unknown.length > 0 && h("p", { class: "quiet" }, `Loading ${unknown.join(", ")} …`));
    // Who stands on a link by keyboard stays there.
    const at = list.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    // That there is none is said only once all have told.
    fill(list, (all.length > 0 || wrong.length + unknown.length === 0) && table(all), left.map((text) => h("p", { class: "quiet" }, text)));
    if (at) [...list.querySelectorAll("a")].find((link) => link.getAttribute("href") === at)?.focus();
  }

  for (const cluster of clusters) keepLooking(cluster);
  return { leave: () => { gone = true; } };
}

function table(rows) {
  if (rows.length === 0) return h("p", { class: "empty" }, "No task ran lately.");
  const state = (row) => row.endtime ? row.status ?? "ended" : "running";
  return h("div", { class: "wide card", tabindex: "0", role: "region", "aria-label": "Tasks" }, h("table", {},
    h("thead", {}, h("tr", {}, ["what", "about", "node", "who", "began", "took", "state"].map((name) => h("th", { scope: "col", class: name === "took" && "number" }, name)))),
    h("tbody", {}, rows.map((row) => h("tr", {},
      h("td", {}, h("a", { href: `#/task/${encodeURIComponent(row.cluster)}/${encodeURIComponent(row.upid)}` }, row.type)),
      h("td", {}, row.id), h("td", {}, row.node, me.names_clusters && ` (${row.cluster})`), h("td", {}, row.user),
      h("td", {}, time(row.starttime)), h("td", { class: "number" }, row.endtime ? duration(row.endtime - row.starttime) : ""),
      h("td", {}, h("span", { class: `state ${mood(state(row))}` }, state(row))))))));
}

/// How a state is coloured: a task's exit status in the list, or get_proxmox_task's word.
function mood(state) {
  switch (state.toLowerCase()) {
    case "ok": return "done";
    case "running": return "running";
    case "ended": return "";
    case "warnings": case "unknown": return "warning";
    default: return state.startsWith("WARNINGS") ? "warning" : "failed";
  }
}

export function task(view, [cluster, upid]) {
  const about = h("p", { class: "quiet" }, "Loading …");
  const log = h("pre", { class: "log", tabindex: "0", "aria-label": "Log" });
  const title = h("h1", {}, "Task");
  const bar = h("progress", { max: 1, "aria-label": "How far it is", hidden: true });
  const trouble = h("div", {});
  fill(view, h("p", {}, h("a", { href: "#/tasks" }, "← Tasks")), title, about, trouble, bar, h("section", { class: "card" }, h("h2", {}, "Log"), log));
  let stop = null;
  let ended = false;

  function end() { ended = true; stop(); }

  function told(seen) {
    fill(trouble);
    title.textContent = `${seen.task_type ?? "Task"} ${seen.subject ?? ""}`;
    fill(about, h("span", { class: `state ${mood(seen.state)}` }, plain(seen.state)), seen.state !== "ok" && seen.exit_status ? ` ${seen.exit_status}` : "",
      ` · ${seen.node ?? ""} · ${seen.user ?? ""} · began ${time(seen.started)}`, null);
    bar.hidden = seen.state !== "running" || seen.fraction === undefined;
    bar.value = seen.fraction ?? 0;
    const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
    log.textContent = (seen.log ?? []).join("\n");
    if (atEnd) log.scrollTop = log.scrollHeight;
    if (seen.state !== "running") end();
  }

  // What is shown is then as it was.
  const unknown = ({ error }) => fill(trouble, failure({ message: error, hint: "How it stands now is not known; it is looked at again." }));

  function follow() {
    stop?.();
    stop = listenTo(taskNews(cluster, upid), {
      task: told,
      trouble: unknown,
      failed: ({ error }) => { fill(trouble); fill(about, failure({ message: error })); end(); },
      away: () => trouble.firstChild || unknown({ error: "The server does not tell how the task goes on." }),
    });
  }

  if (!document.hidden) follow();
  return { leave: () => stop?.(), hide: () => stop?.(), unhide: () => { if (!ended) follow(); } };
}
