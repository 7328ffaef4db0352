// Everything that can be looked at.

import { check, everywhere, failing, go, held, picture, turn } from "./page.mjs";

/// The trail may be long: it is read no more often than somebody is shown what came of it.
async function spares(page, client) {
  const newer = page.getByRole("button", { name: "Entries were added" });
  await client.call("capture_vm_screen", { vmid: 100 });
  await newer.waitFor();
  check(await page.locator(".attempt", { hasText: "screen" }).count() === 0, "a search is not made again by itself");
  await page.locator("#words").fill("");
  await page.locator(".attempt", { hasText: /screen/i }).first().waitFor();
  check(await newer.count() === 0, "who looks again is shown what was added");

  const searches = await held(page, /api\/audit$/);
  const calledOff = page.waitForEvent("requestfailed", (request) => request.postData()?.includes("nobody"));
  const begun = page.waitForRequest(/api\/audit$/);
  await page.locator("#words").fill("nobody");
  await begun;
  await page.locator("#words").fill("105");
  await calledOff;
  check(true, "a search is called off when another begins");
  await searches.end();

  await go(page, "#/inbox", ".empty");
  const walks = await held(page, /audit\/chain/);
  await go(page, "#/audit", ".attempt");
  for (let entry = 0; entry < 5; entry += 1) {
    const loaded = page.waitForResponse(/api\/audit$/);
    await client.call("capture_vm_screen", { vmid: 100 });
    await loaded;
  }
  check(walks.waiting.length === 1, `the chain is walked once at a time (${walks.waiting.length})`);
  const walked = page.waitForResponse(/audit\/chain\/news$/);
  await walks.letGo();
  await walked;
  await page.locator("#chain .state.done").waitFor();
  await walks.end();
  check(true, "what was added meanwhile is looked at afterwards");
}

/// Everything that can be looked at.
export async function parts(page, client) {
  await go(page, "#/audit", ".attempt");
  await page.locator("#chain .state.done").waitFor();
  const trail = await page.locator(".attempts").innerText();
  check(/applied/.test(trail) && /105/.test(trail), "the audit trail has the delete");
  check(/not applied/.test(trail) && /111/.test(trail), "the audit trail has the rejection");
  await everywhere(page, "audit");
  await page.locator("#words").fill("111");
  await page.waitForFunction(() => document.querySelectorAll(".attempt").length > 0
    && [...document.querySelectorAll(".attempt")].every((row) => row.innerText.includes("111")));
  check(true, "the audit trail is filtered");
  await spares(page, client);

  await go(page, "#/tasks", "tbody tr");
  await everywhere(page, "tasks");
  const failed = page.locator("[role=alert]");
  await failing(page, "**/api/tasks/*", async () => {
    await failed.waitFor();
    check(await page.locator("tbody tr").count() > 0, "tasks stay while they cannot be looked at");
  });
  await failed.waitFor({ state: "detached" });
  check(await page.locator("tbody tr").count() > 0, "tasks are there after a look that failed");
  await client.call("clone_proxmox_vm", { vmid: 104, new_vmid: 300, full: true, wait: 0 });
  await page.locator("tbody tr", { hasText: "qmclone" }).locator(".state.running").waitFor();
  check(true, "a task that has just begun comes into the list");
  await page.locator("tbody a", { hasText: "qmclone" }).first().click();
  await page.locator(".part > p .state.running").waitFor();
  await page.locator("progress:visible").waitFor();
  await picture(page, "running-light");
  const begun = (await page.locator(".log").innerText()).length;
  // Behind another tab, and refused when somebody comes back.
  await turn(page, true);
  const refused = page.locator("[role=alert]", { hasText: "does not tell" });
  await failing(page, "**/api/follow/*", async () => {
    await turn(page, false);
    await refused.waitFor();
    check(true, "who is not told how a task goes on is told that");
  });
  await page.locator(".part > p .state.done").waitFor();
  check((await page.locator(".log").innerText()).length > begun, "a running task's log grows, and its end is told, though it was refused once");
  check(await refused.count() === 0, "trouble that is over is not shown");
  await everywhere(page, "task");

  await go(page, "#/findings", "section.card");
  await everywhere(page, "findings");

  await go(page, "#/guest/demo/100", ".chart svg");
  await page.getByRole("button", { name: "Look at the screen" }).click();
  await page.locator(".screen img").waitFor();
  const drawn = await page.locator(".screen img").evaluate((img) => img.naturalWidth);
  check(drawn > 100, "the console's screen is shown");
  await picture(page, "screen-light");
  await everywhere(page, "guest");
  await go(page, "#/audit", ".attempt");
  check(/capture_vm_screen|screen/i.test(await page.locator(".attempts").innerText()), "the look at the screen left its trace");
}
