// The page in a real browser (Debian's chromium): a person signs in, approves a delete that an MCP client waits for,
// rejects another, and looks at everything there is. Judges besides: axe-core, the console, the width of a phone.
//
//   OXMOX_BIN=… JUDGES=… node browser.mjs            passes or fails
//   OXMOX_PICTURES=docs/pictures … node browser.mjs  also takes a picture of each part: light, dark, phone

import { mkdirSync } from "node:fs";

import { oneIsSilent } from "./browser/clusters.mjs";
import { decides } from "./browser/decides.mjs";
import { check, chromium, PICTURES, verdict } from "./browser/page.mjs";
import { endAll } from "./browser/programs.mjs";
import { tabs } from "./browser/tabs.mjs";
import { searches } from "./browser/team.mjs";

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  if (PICTURES) mkdirSync(PICTURES, { recursive: true });
  await decides(browser);
  await tabs(browser);
  await oneIsSilent(browser);
  await searches(browser);
} catch (error) {
  check(false, error.stack);
} finally {
  await browser.close();
  endAll();
}
process.exit(verdict() ? 0 : 1);
