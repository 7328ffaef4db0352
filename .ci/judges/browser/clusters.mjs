// Several clusters.

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { check, go, held, open } from "./page.mjs";
import { cluster, dir, start } from "./programs.mjs";

/// Two clusters, one of which is silent.
export async function oneIsSilent(browser) {
  const [[one, a], [two, b]] = [await cluster("alpha"), await cluster("beta")];
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
  await page.context().close();
}
