import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";

// Real processes, because only a real pipe can lose its reader.

const root = mkdtempSync(join(tmpdir(), "posthorn-reader-"));
const file = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const started: ChildProcess[] = [];
afterAll(() => {
  for (const child of started) child.kill("SIGKILL");
  rmSync(root, { recursive: true, force: true });
});

function posthorn(...args: readonly string[]) {
  const main = [file("server/src/main.ts"), ...args];
  const child = spawn(process.execPath, ["--import", import.meta.resolve("tsx"), ...main], {
    cwd: root,
    env: { ...process.env, TSX_TSCONFIG_PATH: file("tsconfig.json") },
  });
  started.push(child);
  return child;
}

it(
  "a server whose log and output lose their readers goes on, and stops cleanly; so do commands",
  { timeout: 120_000 },
  async () => {
    const server = posthorn("serve", "--dev", "--listen", "127.0.0.1:0", "--log-level", "debug");
    let out = "";
    await new Promise<void>((resolve, reject) => {
      server.stdout.on("data", (chunk: Buffer) => {
        out += chunk.toString();
        if (out.includes("Try it:")) resolve();
      });
      server.once("exit", () => reject(new Error("It ended before it was ready.")));
    });
    const url = /ready at (\S+)/.exec(out)?.[1] ?? "";
    const token = /phk_[\w-]{43}/.exec(out)?.[0] ?? "";
    server.stdout.destroy();
    server.stderr.destroy();
    // Each is refused, which is a line of the log.
    for (let n = 0; n < 5; n++) {
      const refused = await fetch(`${url}/api/v1/tokens`, { headers: { authorization: "Bearer wrong" } });
      expect(refused.status).toBe(401);
    }
    for (const id of ["one", "two"]) {
      const answer = await fetch(`${url}/api/v1/events`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ type: "t", id, data: 1 }),
      });
      expect(answer.status).toBe(202);
    }

    // Prints a table on the standard output, and on the standard error that there are more.
    const listed = posthorn("events", "list", "--limit", "1", "--url", url, "--token", token);
    listed.stdout.destroy();
    listed.stderr.destroy();
    expect(await once(listed, "exit")).toEqual([0, null]);
    const followed = posthorn("events", "list", "--follow", "--url", url, "--token", token);
    followed.stdout.destroy();
    followed.stderr.destroy();
    expect(await once(followed, "exit")).toEqual([0, null]);

    const stopped = once(server, "exit");
    server.kill("SIGTERM");
    expect(await stopped).toEqual([0, null]);
  },
);
