import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atProcessEnd, endProcess, freePort, startProgram } from "./spawned.js";

/** A Redis to test with, or why there is none: a text for skipFor(). */
export type RedisService = { readonly url: string } | { readonly reason: string };

export interface RedisServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts `redis-server` on loopback with its data in the temporary folder; undefined where it is not installed. */
export async function startRedis(settings: readonly string[] = []): Promise<RedisServer | undefined> {
  if (spawnSync("redis-server", ["--version"]).status !== 0) return undefined;
  const home = mkdtempSync(join(tmpdir(), "posthorn-redis-"));
  const port = await freePort();
  const args = ["--bind", "127.0.0.1", "--port", String(port), "--dir", home, "--save", "", ...settings];
  const ready = "Ready to accept connections";
  const child = await startProgram(["redis-server", ...args], { ready, logFile: join(home, "log") });
  const remove = (): void => rmSync(home, { recursive: true, force: true });
  const callOff = atProcessEnd(() => {
    child.kill("SIGKILL");
    remove();
  });
  const stop = async (): Promise<void> => {
    await endProcess(child, "SIGKILL");
    callOff();
    remove();
  };
  return { url: `redis://127.0.0.1:${port}`, stop };
}

export const noRedis =
  "no redis-server on the PATH and no REDIS_URL (Debian: apt-get install redis-server; macOS: brew install redis)";
