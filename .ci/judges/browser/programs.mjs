// The programs of a story: oxmox, simulated clusters, and a client of MCP. All of them end with the judge.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const BIN = process.env.OXMOX_BIN;
const children = [];
export const dir = mkdtempSync(join(tmpdir(), "oxmox-browser-"));

export function endAll() {
  for (const child of children) child.removeAllListeners("exit").kill();
  rmSync(dir, { recursive: true, force: true });
}

/// Starts oxmox, and waits for a line that says where it is. `end()` of what is returned kills it.
export function start(args, pattern, environment = {}) {
  const child = spawn(BIN, args, { env: { ...process.env, ...environment }, stdio: ["ignore", "inherit", "pipe"] });
  children.push(child);
  return new Promise((resolve, reject) => {
    let said = "";
    child.stderr.on("data", (data) => {
      said += data;
      const found = pattern.exec(said);
      const end = () => new Promise((ended) => { child.removeAllListeners("exit").on("exit", ended).kill("SIGKILL"); });
      if (found) resolve(Object.assign(found, { end }));
    });
    child.on("exit", (code) => reject(new Error(`oxmox ${args.join(" ")} ended with ${code}: ${said}`)));
  });
}

/// What oxmox prints on stdout.
export function output(args, environment) {
  return new Promise((resolve, reject) => {
    const child = spawn(BIN, args, { env: { ...process.env, ...environment }, stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    child.stdout.on("data", (data) => { said += data; });
    child.on("exit", (code) => code === 0 ? resolve(said) : reject(new Error(`oxmox ${args.join(" ")}: ${code}`)));
  });
}

/// A simulator: its entry in the configuration, the environment with its token's secret, and a function that kills it.
export async function cluster(name, ...args) {
  const started = await start(["sim", ...args, "--listen", "127.0.0.1:0"], /https:\/\/(\S+)\n\s*fingerprint (\S+)[^]*?token: (\S+?)=(\S+)/);
  const [, host, pin, token, secret] = started;
  const variable = name.toUpperCase();
  return [`[clusters.${name}]\nhosts = ["${host}"]\npin = "${pin}"\ntoken = "${token}"\ntoken_secret_env = "${variable}"\n`, { [variable]: secret }, started.end];
}

/// An MCP client that cannot ask anybody itself.
export class Client {
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
