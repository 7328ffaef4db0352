// The page in a real browser (Debian's chromium): a person signs in, approves a delete that an MCP client waits for,
// rejects another, and looks at everything there is. Judges besides: axe-core, the console, the width of a phone.
//
//   OXMOX_BIN=… JUDGES=… node browser.mjs            passes or fails
//   OXMOX_PICTURES=docs/pictures … node browser.mjs  also takes a picture of each part: light, dark, phone

import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const require = createRequire(`${process.env.JUDGES}/npm/package.json`);
const { chromium } = require("playwright-core");
const axe = require("axe-core").source;

const BIN = process.env.OXMOX_BIN;
const PICTURES = process.env.OXMOX_PICTURES;
const GUESTS = 10_000;
const dir = mkdtempSync(join(tmpdir(), "oxmox-browser-"));
const children = [];
const faults = [];
let checks = 0;

function check(holds, what) {
  checks += 1;
  console.log(`${holds ? "ok  " : "FAIL"} ${what}`);
  if (!holds) faults.push(what);
}

/// Starts oxmox, and waits for a line that says where it is.
function start(args, pattern, environment = {}) {
  const child = spawn(BIN, args, { env: { ...process.env, ...environment }, stdio: ["ignore", "inherit", "pipe"] });
  children.push(child);
  return new Promise((resolve, reject) => {
    let said = "";
    child.stderr.on("data", (data) => {
      said += data;
      const found = pattern.exec(said);
      if (found) resolve(found);
    });
    child.on("exit", (code) => reject(new Error(`oxmox ${args.join(" ")} ended with ${code}: ${said}`)));
  });
}

/// What oxmox prints on stdout.
function output(args, environment) {
  return new Promise((resolve, reject) => {
    const child = spawn(BIN, args, { env: { ...process.env, ...environment }, stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    child.stdout.on("data", (data) => { said += data; });
    child.on("exit", (code) => code === 0 ? resolve(said) : reject(new Error(`oxmox ${args.join(" ")}: ${code}`)));
  });
}

/// An MCP client that cannot ask anybody itself.
class Client {
  constructor(url) { this.url = url; this.id = 0; this.headers = {}; }

  async send(method, params, isNote = false) {
    const message = { jsonrpc: "2.0", method, params, ...(isNote ? {} : { id: ++this.id }) };
    const answer = await fetch(this.url, {
      method: "POST", body: JSON.stringify(message),
      headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...this.headers },
    });
    const session = answer.headers.get("mcp-session-id");
    if (session) this.headers["Mcp-Session-Id"] = session;
    const lines = (await answer.text()).split("\n").map((line) => line.replace(/^data: ?/, ""));
    const replies = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
    return replies.find((reply) => reply.id === message.id);
  }

  async open() {
    await this.send("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "agent", version: "1" } });
    this.headers["MCP-Protocol-Version"] = "2025-06-18";
    await this.send("notifications/initialized", {}, true);
    return this;
  }

  async call(name, args) {
    const { result } = await this.send("tools/call", { name, arguments: args });
    return result;
  }
}

/// A page whose every complaint counts.
async function open(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1100, height: 760 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  await page.addInitScript(() => {
    globalThis.streams = [];
    globalThis.EventSource = class extends EventSource {
      constructor(...all) { super(...all); globalThis.streams.push(this); }
    };
  });
  page.on("console", (message) => {
    // A browser complains of every refusal, also of the one by which the page learns that nobody is signed in.
    const expected = (/40[13]|429/.test(message.text()) && !page.signedIn) || page.expected?.test(message.text());
    if (["error", "warning"].includes(message.type()) && !expected) check(false, `console: ${message.text()}`);
  });
  page.on("pageerror", (error) => check(false, `page error: ${error.message}`));
  return page;
}

/// What axe-core finds grave, and whether anything is wider than the screen.
async function judge(page, name) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const grave = violations.filter((it) => ["serious", "critical"].includes(it.impact));
  const said = grave.map((it) => `${it.id} (${it.nodes.map((node) => node.target).join("; ")})`);
  check(grave.length === 0, `axe-core on ${name}${said.length ? `: ${said.join(", ")}` : ""}`);
}

async function fits(page, name) {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  check(over <= 0, `${name} fits 360 px${over > 0 ? ` (${over} too wide)` : ""}`);
}

async function picture(page, name) {
  if (PICTURES) await page.screenshot({ path: join(PICTURES, `${name}.png`) });
}

/// A part in light, dark and on a phone.
async function everywhere(page, name) {
  await page.evaluate(() => scrollTo(0, 0));
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: scheme });
    await judge(page, `${name}, ${scheme}`);
    await picture(page, `${name}-${scheme}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 360, height: 740 });
  await page.waitForTimeout(100);
  await fits(page, name);
  await judge(page, `${name}, phone`);
  await picture(page, `${name}-phone`);
  await page.setViewportSize({ width: 1100, height: 760 });
}

async function go(page, path, ready) {
  await page.evaluate((hash) => { location.hash = hash; }, path);
  await page.locator(ready).first().waitFor();
}

/// Another tab in front of the page, and this one again. A browser without a screen does neither by itself.
async function turn(page, hidden) {
  await page.evaluate((value) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => value });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
}

const openStreams = (page) => page.evaluate(() => globalThis.streams.filter((it) => it.readyState !== EventSource.CLOSED).length);

/// What the page asks for fails for a while, by a status that the server itself never has.
async function failing(page, path, meanwhile) {
  page.expected = /status of 507/;
  await page.route(path, (route) => route.fulfill({ status: 507, json: { error: "the store does not answer" } }));
  await meanwhile();
  await page.unroute(path);
}

/// Requests to these addresses wait until they are let go, with what becomes of them from then on.
async function held(page, path, concerned = () => true) {
  const waiting = [];
  let then = null;
  const handle = (route) => {
    if (!concerned(route.request())) return route.fallback();
    return then ? then(route) : waiting.push(route);
  };
  await page.route(path, handle);
  const letGo = async (what = (route) => route.fallback()) => {
    then = what;
    for (const route of waiting) await then(route);
  };
  return { waiting, letGo, end: () => page.unroute(path, handle) };
}

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
async function decides(browser) {
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
  await again.context().close();
  await page.context().close();
}

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
async function parts(page, client) {
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
  await failing(page, "**/api/look/*", async () => {
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

/// A person of a team, with a token, and ten thousand guests.
async function searches(browser) {
  const [fleet, secret] = await cluster("fleet", "--world", "fleet", "--guests", String(GUESTS));
  const environment = { OXMOX_STATE_DIR: join(dir, "team"), OXMOX_CONFIG: join(dir, "config.toml"), ...secret };
  writeFileSync(environment.OXMOX_CONFIG, fleet);
  const person = (await output(["token", "add", "owner", "--person"], environment)).match(/oxmox_\w+_[\w-]+/)[0];
  const program = (await output(["token", "add", "robot"], environment)).match(/oxmox_\w+_[\w-]+/)[0];
  const [, address] = await start(["serve", "--http", "127.0.0.1:0"], /page for people is at (http:\S+?)\/;/, environment);

  const page = await open(browser);
  await page.goto(address);
  await page.getByLabel("Your token").fill(program);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("a program's token").waitFor();
  check(true, "a program's token does not sign in");
  await page.getByLabel("Your token").fill(person);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  page.signedIn = true;
  check(await page.locator(".who").innerText().then((text) => text.includes("owner")), "a person's token signs in");

  await go(page, "#/inventory", ".rows .row a");
  await page.locator("#found", { hasText: "10,000 found" }).waitFor();
  check(await page.locator(".rows .row").count() < 80, "only the rows in sight are in the page");
  await everywhere(page, "inventory");
  await page.locator(".list").evaluate((list) => { list.scrollTop = 200 * 44; });
  await page.locator(".row[aria-rowindex='205'] a").waitFor();
  check(true, "rows further down come by scrolling");
  await page.locator(".list").evaluate((list) => { list.scrollTop = 0; });
  await page.locator(".row[aria-rowindex='2'] a").focus();
  for (let at = 0; at < 40; at += 1) await page.keyboard.press("Tab");
  const reached = await page.evaluate(() => document.activeElement.closest(".row")?.getAttribute("aria-rowindex"));
  check(reached === "42", `forty times Tab goes forty rows down (to ${reached})`);
  // No frame of a scroll may take long.
  const slowest = await page.locator(".list").evaluate(async (list) => {
    let worst = 0;
    let last = performance.now();
    for (let at = 0; at < 60; at += 1) {
      list.scrollTop = at * 300;
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      worst = Math.max(worst, now - last);
      last = now;
    }
    return worst;
  });
  check(slowest < 250, `scrolling stays smooth (slowest frame ${slowest.toFixed(0)} ms)`);
  const name = (await page.locator(".rows .row a").first().innerText()).trim();
  const began = Date.now();
  await page.keyboard.press("/");
  await page.keyboard.type("vmid:5000-5009");
  await page.waitForFunction(() => /^10 found/.test(document.getElementById("found").textContent));
  check(true, `a search among ${GUESTS} guests answered in ${Date.now() - began} ms (${name} before)`);

  // Nobody touches the page: it hears by itself that its token was taken back.
  page.signedIn = false;
  await output(["token", "remove", "owner"], environment);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  check(true, "a page whose token was taken back asks to sign in");
  for (let guess = 0; guess < 8; guess += 1) {
    await page.getByLabel("Your token").fill(`oxmox_aaaaaaa${guess}_wrong`);
    const answered = page.waitForResponse(/sign-in/);
    await page.getByRole("button", { name: "Sign in" }).click();
    await answered;
  }
  await page.getByText(/try again in \d+ seconds/).waitFor();
  check(true, "who guesses is told in words how long to wait");
  await page.context().close();
}

/// A simulator, as an entry of the configuration; its token's secret is known by the cluster's name.
async function cluster(name, ...args) {
  const [, host, pin, token, secret] = await start(["sim", ...args, "--listen", "127.0.0.1:0"], /https:\/\/(\S+)\n\s*fingerprint (\S+)[^]*?token: (\S+?)=(\S+)/);
  const variable = name.toUpperCase();
  return [`[clusters.${name}]\nhosts = ["${host}"]\npin = "${pin}"\ntoken = "${token}"\ntoken_secret_env = "${variable}"\n`, { [variable]: secret }];
}

/// Two clusters, one of which is silent.
async function oneIsSilent(browser) {
  const [[one, a], [two, b]] = [await cluster("alpha"), await cluster("beta")];
  const environment = { OXMOX_STATE_DIR: join(dir, "two"), OXMOX_CONFIG: join(dir, "two.toml"), ...a, ...b };
  writeFileSync(environment.OXMOX_CONFIG, `${one}${two}`);
  const [, link] = await start(["serve", "--http", "127.0.0.1:0"], /(http:\S+#sign-in=\S+)/, environment);
  const page = await open(browser);
  await page.goto(link);
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  page.signedIn = true;
  const [rows, failed] = [(name) => page.locator("tbody tr", { hasText: `(${name})` }), page.locator("[role=alert]")];
  const beta = await held(page, "**/api/look/*", (request) => request.postDataJSON().cluster === "beta");
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

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  if (PICTURES) mkdirSync(PICTURES, { recursive: true });
  await decides(browser);
  await oneIsSilent(browser);
  await searches(browser);
} catch (error) {
  check(false, error.stack);
} finally {
  await browser.close();
  for (const child of children) child.removeAllListeners("exit").kill();
  rmSync(dir, { recursive: true, force: true });
}
console.log(faults.length ? `${faults.length} of ${checks} failed` : `all ${checks} hold`);
process.exit(faults.length ? 1 : 0);
