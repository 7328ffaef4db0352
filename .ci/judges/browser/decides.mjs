// A person at their own machine, who approves one change and rejects others.

import { createServer } from "node:http";
import { join } from "node:path";

import { check, everywhere, failing, go, judge, open, openStreams, picture, turn } from "./page.mjs";
import { Client, dir, start } from "./programs.mjs";
import { parts } from "./parts.mjs";

/// The same plans while loads fail, rules change and other tabs are in front.
async function lasts(page, plan) {
  const again = async () => {
    await turn(page, true);
    const loaded = page.waitForResponse(/api\/inbox$/);
    await turn(page, false);
    await loaded;
  };
  check(await openStreams(page) === 1, "a page that is seen holds one stream");
  await turn(page, true);
  check(await openStreams(page) === 0, "a page behind another tab holds none");
  const failed = page.locator("[role=alert]", { hasText: "does not answer" });
  await failing(page, "**/api/inbox", async () => {
    await turn(page, false);
    await failed.waitFor();
    check(await plan.count() === 1, "plans stay while they cannot be loaded");
  });
  await again();
  await failed.waitFor({ state: "detached" });
  check(await plan.count() === 1, "plans are there after a load that failed");
  const id = await plan.getAttribute("data-plan");
  await failing(page, "**/api/inbox", async () => {
    await go(page, `#/inbox/${id}`, "[role=alert]");
    check(!/approved/i.test(await page.locator("main").innerText()), "nobody is told of a yes while it is not known what waits");
  });
  await again();
  await plan.waitFor();
  check(await page.locator(".followed").count() === 0, "a plan that waits is shown once, by its address, too");
  await go(page, "#/inbox", ".plan");
  await page.route("**/api/inbox", async (route) => {
    const answer = await (await route.fetch()).json();
    for (const it of answer.plans) { it.plan.blockers = ["changes are frozen"]; it.may_not_approve = "frozen"; }
    await route.fulfill({ json: answer });
  });
  const refused = plan.getByText("Would be refused: changes are frozen");
  await again();
  await refused.waitFor();
  check(await plan.getByRole("button", { name: "Approve" }).isDisabled(), "a plan that is refused meanwhile says so");
  await again();
  await page.waitForTimeout(200);
  check(await refused.count() === 1, "it says so after the next load, too");
  await page.unroute("**/api/inbox");
  await again();
  await refused.waitFor({ state: "detached" });
  check(await plan.getByRole("button", { name: "Approve" }).isEnabled(), "a plan that is not refused any more can be approved");
}

/// Another server on the same host, which the person visits: browsers send it the cookie, too.
async function elsewhere(page, address, plan) {
  let stolen = "";
  const server = createServer((request, response) => { stolen = request.headers.cookie ?? stolen; response.end("hello"); });
  await new Promise((resolve) => { server.listen(0, "127.0.0.1", resolve); });
  const tab = await page.context().newPage();
  await tab.goto(`http://127.0.0.1:${server.address().port}/`);
  check(/oxmox/.test(stolen), "another server on this host is sent the cookie");
  const headers = { Cookie: stolen, "X-Oxmox-Page": "1" };
  const id = await plan.getAttribute("data-plan");
  const body = JSON.stringify({ approve: true, digest: "x" });
  const [seen, decided] = [await fetch(`${address}/api/inbox`, { headers }), await fetch(`${address}/api/inbox/${id}`, { method: "POST", headers, body })];
  check(seen.status === 401 && decided.status === 401, `it sees and decides nothing with it (${seen.status}, ${decided.status})`);
  await tab.goto(address);
  await tab.getByRole("heading", { name: "Inbox" }).waitFor();
  check(await tab.locator(".who").count() === 1, "another tab of the page is signed in");
  await tab.close();
  server.close();
  server.closeAllConnections();
}

/// A person at their own machine: the demo, and the link that it prints.
export async function decides(browser) {
  const [, link] = await start(["demo", "--http", "127.0.0.1:0", "--state-dir", join(dir, "demo")], /(http:\S+#sign-in=\S+)/);
  const address = new URL(link).origin;
  const client = await new Client(`${address}/mcp`).open();

  const stranger = await open(browser);
  await stranger.goto(address);
  await stranger.getByRole("heading", { name: "Sign in" }).waitFor();
  await everywhere(stranger, "sign-in");
  await stranger.getByLabel("Your token").fill("oxmox_aaaaaaaa_wrong");
  await stranger.getByRole("button", { name: "Sign in" }).click();
  await stranger.getByText("none that counts").waitFor();
  check(true, "a wrong token is refused in words");
  await stranger.context().close();

  const page = await open(browser);
  await page.goto(link);
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  page.signedIn = true;
  check(!page.url().includes("sign-in"), "the link signs in, and its code leaves the address");
  const [cookie] = await page.context().cookies();
  check(cookie.httpOnly && cookie.sameSite === "Strict", "the session's cookie is HttpOnly and SameSite=Strict");
  await page.getByText("Nothing waits").waitFor();

  // The client waits meanwhile.
  const deleted = client.call("delete_proxmox_vm", { vmid: 105, wait: 120 });
  const plan = page.locator(".plan", { hasText: "VM 105" });
  await plan.waitFor();
  const text = await plan.innerText();
  check(/destroy/.test(text) && /DELETE \/nodes\/\w+\/qemu\/105/.test(text), "the inbox tells the delete by itself, with its request");
  check(/\d+(\.\d)? GiB/.test(text), "what is lost has its size");
  const changed = client.call("update_proxmox_vm", { vmid: 104, set: { memory: 16384, hostpci0: "0000:01:00.0", description: "this -> that" }, wait: 120 });
  const change = page.locator(".plan", { hasText: "VM 104" });
  await change.waitFor();
  check(/8192 → 16384/.test(await change.innerText()), "the inbox tells old and new values");
  check(/unset -> this -> that/.test(await change.innerText()), "values that hold an arrow are shown whole");
  await everywhere(page, "inbox");
  await lasts(page, plan);
  await elsewhere(page, address, plan);
  // By keyboard alone.
  await plan.getByRole("button", { name: "Approve" }).focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  await judge(page, "the question");
  await dialog.getByRole("button", { name: "Yes, approve" }).focus();
  await page.keyboard.press("Enter");
  const outcome = await deleted;
  check(outcome.structuredContent?.status === "applied", `the waiting call was applied (${outcome.structuredContent?.status})`);
  await page.locator(".followed .state.applied").first().waitFor();
  check(true, "the page shows that it was done");
  await picture(page, "done-light");

  const rejected = client.call("delete_proxmox_vm", { vmid: 111, wait: 120 });
  const second = page.locator(".plan", { hasText: "VM 111" });
  await second.waitFor();
  await second.getByRole("button", { name: "Reject" }).click();
  const no = await rejected;
  check(no.structuredContent?.status === "not_applied", `the rejected call was not applied (${no.structuredContent?.status})`);
  await second.waitFor({ state: "detached" });
  await change.getByRole("button", { name: "Reject" }).click();
  check((await changed).structuredContent?.status === "not_applied", "a rejected change was not applied either");

  // A request without what only the page sends.
  const bare = await page.request.post(`${address}/api/inbox/x`, { data: { approve: true, digest: "x" } });
  check(bare.status() === 403, "a request of another site is refused");

  await parts(page, client);
  await page.getByRole("button", { name: "Sign out" }).click();
  page.signedIn = false;
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  const again = await open(browser);
  await again.goto(link);
  await again.getByText("was used already").waitFor();
  check(true, "the link works once");
  await again.evaluate(() => { location.hash = "#sign-in=another"; });
  await again.waitForURL(({ hash }) => hash === "");
  await again.getByText("was used already").waitFor();
  check(true, "a link in a tab that has the page open is used, and its code leaves the address");
  await again.context().close();
  await page.context().close();
}
