// Several clusters.

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { check, go, held, judge, open, picture } from "./page.mjs";
import { cluster, dir, start } from "./programs.mjs";

/// The Findings page names the checks that did not run, and never says "no findings" alone beside them.
async function showsUnchecked(page, endBeta) {
  const unchecked = page.locator("#not-checked");
  const path = "**/api/look/list_proxmox_findings";
  const answer = (data) => page.route(path, (route) => route.fulfill({ json: { data, images: [] } }));
  await answer({ codes: [], unchecked: ["update_pending: the token lacks Sys.Modify on /nodes/pve1"] });
  await go(page, "#/findings", "#not-checked");
  check(/update pending: the token lacks Sys\.Modify/.test(await unchecked.innerText()), "a check that did not run is named with the reason");
  check(await page.getByText("No findings in the checks that ran.").count() === 1, "the empty list is limited to the checks that ran");
  await judge(page, "findings that were not checked");
  await picture(page, "findings-unchecked");
  await page.unroute(path);
  await answer({ codes: [], unchecked: [] });
  await page.locator("#severity").selectOption("warning");
  await page.getByText("No findings (warning or worse). All checks for these ran.").waitFor();
  check(await unchecked.count() === 0, "nothing is listed as not checked where all checks ran");
  await page.unroute(path);
  await endBeta();
  await page.locator("#severity").selectOption("");
  await unchecked.getByText(/all checks.*cluster beta/).waitFor();
  check(await page.locator("section.card").count() > 1, "the findings of the other cluster are shown beside it");
}

/// Two clusters, one of which is silent.
export async function oneIsSilent(browser) {
  const [[one, a], [two, b, endBeta]] = [await cluster("alpha"), await cluster("beta")];
  const environment = { OXMOX_STATE_DIR: join(dir, "two"), OXMOX_CONFIG: join(dir, "two.toml"), ...a, ...b };
  writeFileSync(environment.OXMOX_CONFIG, `${one}${two}`);
  const [, link] = await start(["serve", "--http", "127.0.0.1:0"], /(http:\S+#sign-in=\S+)/, environment);
  const page = await open(browser);
  await page.goto(link);
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  page.signedIn = true;
  const [rows, failed] = [(name) => page.locator("tbody tr", { hasText: `(${name})` }), page.locator("[role=alert]")];
  const beta = await held(page, "**/api/tasks/beta");
  await go(page, "#/tasks", "tbody tr");
  check(await rows("alpha").count() > 0 && beta.waiting.length > 0, "who waits for one cluster sees the tasks of the other");
  page.expected = /status of 507/;
  await beta.letGo((route) => route.fulfill({ status: 507, json: { error: "no route to host" } }));
  await failed.waitFor();
  check(await failed.count() === 1 && /^beta: no route/.test(await failed.innerText()), "the cluster that failed is named");
  check(await rows("alpha").count() > 0, "the tasks of the other stay");
  await beta.end();
  await rows("beta").first().waitFor();
  check(await failed.count() === 0, "both are there once both answer");
  await showsUnchecked(page, endBeta);
  await page.context().close();
}
