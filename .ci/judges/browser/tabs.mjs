// Two people at one browser, two tabs, and a server that goes away and comes back.

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { check, go, open } from "./page.mjs";
import { Client, cluster, dir, output, start } from "./programs.mjs";

const AT = /page for people is at (http:\S+?)\/;/;
const UNKNOWN = "How it stands now is not known";

export async function tabs(browser) {
  const [homelab, secret] = await cluster("homelab");
  const environment = { OXMOX_STATE_DIR: join(dir, "tabs"), OXMOX_CONFIG: join(dir, "tabs.toml"), ...secret };
  writeFileSync(environment.OXMOX_CONFIG, homelab);
  const token = async (...args) => (await output(["token", "add", ...args], environment)).match(/oxmox_\w+_[\w-]+/)[0];
  const [anna, bert, robot] = [await token("anna", "--person"), await token("bert", "--person"), await token("robot", "--scope", "full")];
  const served = await start(["serve", "--http", "127.0.0.1:0"], AT, environment);
  const page = await open(browser);
  // A browser complains of a server that is away, and of the refusal by which a tab learns that somebody has left.
  page.expected = /net::|40[13]/;
  await page.goto(served[1]);
  await signIn(page, anna);

  await anotherTab(page, served[1], bert);
  await notTold(page, served[1], anna);
  await staysSignedIn(page);
  await serverGoesAway(page, served, robot, environment);
  await page.context().close();
}

async function signIn(page, token) {
  await page.getByLabel("Your token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
}

/// What one tab says must not be decided as somebody else.
async function anotherTab(page, address, bert) {
  const tab = await page.context().newPage();
  await tab.goto(address);
  await tab.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  check(true, "who signs out in one tab is signed out in the others");
  await signIn(tab, bert);
  await page.locator(".who", { hasText: "bert" }).waitFor();
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  check(true, "who signs in in one tab is named in the others");
  await tab.close();
}

/// A page that was out of sight, or is about to be loaded anew: nothing tells it that somebody else has come.
async function notTold(page, address, anna) {
  const entered = await page.request.post(`${address}/api/sign-in`, { headers: { "X-Oxmox-Page": "none" }, data: { token: anna } });
  const { proof } = await entered.json();
  await page.evaluate((it) => localStorage.setItem("oxmox-proof", it), proof);
  const answered = page.waitForResponse(/api\/sign-out/);
  await page.getByRole("button", { name: "Sign out" }).click();
  check((await answered).status() === 401, "a page that names one person does nothing as another");
  await page.locator(".who", { hasText: "anna" }).waitFor();
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  check(true, "it names the other then");
}

async function staysSignedIn(page) {
  await page.route("**/api/sign-out", (route) => route.abort());
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("You are still signed in").waitFor();
  check(await page.getByRole("heading", { name: "Inbox" }).count() === 1, "a sign-out that failed is none, and that is said");
  await page.unroute("**/api/sign-out");
}

async function serverGoesAway(page, served, robot, environment) {
  const again = () => start(["serve", "--http", new URL(served[1]).host], AT, environment);
  const client = await agent(served[1], robot);
  await client.call("clone_proxmox_vm", { vmid: 104, new_vmid: 300, full: true, wait: 0 });
  await go(page, "#/tasks", "tbody tr");
  await page.locator("tbody a", { hasText: "qmclone" }).first().click();
  await page.locator(".part > p .state.running").waitFor();
  await served.end();
  await page.getByText(UNKNOWN).waitFor();
  check(true, "of a task that ran when the server left it is said that nobody knows");
  const back = await again();
  await page.getByText(UNKNOWN).waitFor({ state: "detached" });
  check(await page.locator(".part > p .state.running").count() === 1, "once the server is back, the task is followed on");

  await go(page, "#/inbox", ".empty");
  await (await agent(served[1], robot)).call("delete_proxmox_vm", { vmid: 111, wait: 0 });
  await page.locator(".plan", { hasText: "VM 111" }).getByRole("button", { name: "Approve" }).click();
  await page.getByRole("button", { name: "Yes, approve" }).click();
  const followed = page.locator(".followed");
  await followed.getByText("has not come back for it yet").waitFor();
  await back.end();
  await followed.getByText(UNKNOWN).waitFor();
  check(true, "of a plan that is followed when the server leaves, too");
  await again();
  await followed.getByText(UNKNOWN).waitFor({ state: "detached" });
  check(await followed.getByText("has not come back for it yet").count() === 1, "once it is back, the plan stands as it did");
}

async function agent(address, token) {
  const client = new Client(`${address}/mcp`);
  client.headers.Authorization = `Bearer ${token}`;
  return client.open();
}
