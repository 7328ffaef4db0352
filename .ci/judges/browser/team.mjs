// A person of a team: a token, many guests.

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { check, everywhere, go, open } from "./page.mjs";
import { cluster, dir, output, start } from "./programs.mjs";

const GUESTS = 10_000;

/// A person of a team, with a token, and ten thousand guests.
export async function searches(browser) {
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
