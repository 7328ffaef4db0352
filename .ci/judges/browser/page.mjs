// A page in the browser, and what can be judged of any of them.

import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(`${process.env.JUDGES}/npm/package.json`);
const axe = require("axe-core").source;
export const { chromium } = require("playwright-core");
export const PICTURES = process.env.OXMOX_PICTURES;

const faults = [];
let checks = 0;

export function check(holds, what) {
  checks += 1;
  console.log(`${holds ? "ok  " : "FAIL"} ${what}`);
  if (!holds) faults.push(what);
}

/// Says what came of it. Returns whether everything holds.
export function verdict() {
  console.log(faults.length ? `${faults.length} of ${checks} failed` : `all ${checks} hold`);
  return faults.length === 0;
}

/// A page whose every complaint counts.
export async function open(browser, options = {}) {
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
export async function judge(page, name) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const grave = violations.filter((it) => ["serious", "critical"].includes(it.impact));
  const said = grave.map((it) => `${it.id} (${it.nodes.map((node) => node.target).join("; ")})`);
  check(grave.length === 0, `axe-core on ${name}${said.length ? `: ${said.join(", ")}` : ""}`);
}

export async function fits(page, name) {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  check(over <= 0, `${name} fits 360 px${over > 0 ? ` (${over} too wide)` : ""}`);
}

export async function picture(page, name) {
  if (PICTURES) await page.screenshot({ path: join(PICTURES, `${name}.png`) });
}

/// A part in light, dark and on a phone.
export async function everywhere(page, name) {
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

export async function go(page, path, ready) {
  await page.evaluate((hash) => { location.hash = hash; }, path);
  await page.locator(ready).first().waitFor();
}

/// Another tab in front of the page, and this one again. A browser without a screen does neither by itself.
export async function turn(page, hidden) {
  await page.evaluate((value) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => value });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
}

export const openStreams = (page) => page.evaluate(() => globalThis.streams.filter((it) => it.readyState !== EventSource.CLOSED).length);

/// What the page asks for fails for a while, by a status that the server itself never has.
export async function failing(page, path, meanwhile) {
  page.expected = /status of 507/;
  await page.route(path, (route) => route.fulfill({ status: 507, json: { error: "the store does not answer" } }));
  await meanwhile();
  await page.unroute(path);
}

/// Requests to these addresses wait until they are let go, with what becomes of them from then on.
export async function held(page, path, concerned = () => true) {
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
