import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";

const root = mkdtempSync(join(tmpdir(), "posthorn-serve-"));
const file = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const started: ChildProcess[] = [];
// Each compiles the server anew, which takes ten times as long on a machine that is busy.
const MANY_STARTS = { timeout: 180_000 };

afterAll(() => {
  for (const child of started) child.kill("SIGKILL");
  rmSync(root, { recursive: true, force: true });
});

interface Served {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  readonly url: string;
}

async function serve(...flags: readonly string[]): Promise<Served> {
  const args = [
    "--import",
    import.meta.resolve("tsx"),
    file("server/src/main.ts"),
    "serve",
    "--dev",
    "--listen",
    "127.0.0.1:0",
    ...flags,
  ];
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, TSX_TSCONFIG_PATH: file("tsconfig.json") },
  });
  started.push(child);
  let out = "";
  let err = "";
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString();
      if (out.includes("Try it:")) resolve();
    });
    child.once("exit", () => reject(new Error(`It ended before it was ready: ${err}`)));
  });
  await ready;
  const url = /ready at (\S+)/.exec(out)?.[1] ?? "";
  return { child, out: () => out, err: () => err, url };
}

async function exitOf({ child }: Served, signal: NodeJS.Signals): Promise<number | null> {
  const ended = once(child, "exit");
  child.kill(signal);
  return (await ended)[0] as number | null;
}

it("it shows the token once, writes it down for the CLI, survives a kill -9 and stops cleanly", async () => {
  const first = await serve();
  const token = /phk_[\w-]{43}/.exec(first.out())?.[0];
  const path = join(root, "posthorn-data", "cli.json");
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ url: first.url, token });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(first.err()).not.toContain(token);
  await exitOf(first, "SIGKILL");

  const second = await serve();
  expect(second.out()).not.toContain("phk_");
  // The address may be another; the token is the same.
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ url: second.url, token });
  expect(await exitOf(second, "SIGTERM")).toBe(0);
  expect(second.err()).toContain('"msg":"stopped"');
});

it(
  "what was under way when it was killed goes on at the next start, and the lapse is counted",
  MANY_STARTS,
  async () => {
    const flags = ["--data-dir", join(root, "killed"), "--lease", "1h"];
    const answers: ((status: number) => void)[] = [];
    const ids: unknown[] = [];
    const hook = createServer((request, response) => {
      ids.push(request.headers["webhook-id"]);
      answers.push((status) => response.writeHead(status).end());
    });
    await new Promise<void>((resolve) => hook.listen(0, "127.0.0.1", resolve));
    const first = await serve(...flags);
    const token = /phk_[\w-]{43}/.exec(first.out())?.[0] ?? "";
    const call = async (url: string, body?: object): Promise<unknown> => {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const answer = await fetch(url, {
        headers,
        ...(body && { method: "POST", body: JSON.stringify(body) }),
      });
      return answer.json();
    };
    const api = `${first.url}/api/v1`;
    await call(`${api}/endpoints`, { url: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/` });
    const arrived = once(hook, "request");
    await call(`${api}/events`, { type: "order.paid", key: "cus_1", data: {} });
    await arrived;
    const again = once(hook, "request");
    await exitOf(first, "SIGKILL");

    // Its lease lasts an hour: what comes now has not waited for its end.
    const second = await serve(...flags);
    await again;
    expect(ids[1]).toBe(ids[0]);
    expect(second.err()).toContain('"leases":1');
    answers[1]?.(200);
    const delivery = `${second.url}/api/v1/deliveries`;
    const { items } = (await call(`${delivery}?event=${String(ids[0])}`)) as { items: { id: string }[] };
    const outcomes = async (): Promise<string[]> => {
      const attempts = (await call(`${delivery}/${items[0]?.id}/attempts`)) as {
        items: { outcome: string }[];
      };
      return attempts.items.map(({ outcome }) => outcome);
    };
    while ((await outcomes()).length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await outcomes()).toEqual(["lapsed", "acknowledged"]);
    expect(await exitOf(second, "SIGTERM")).toBe(0);

    // A clean stop leaves no lease behind.
    const third = await serve(...flags);
    expect(third.err()).not.toContain('"leases"');
    await exitOf(third, "SIGKILL");
    hook.close();
  },
);

it("a second signal ends it at once, with 130", async () => {
  const waiting: (() => void)[] = [];
  const slow = createServer((_, response) => void waiting.push(() => response.end()));
  await new Promise<void>((resolve) => slow.listen(0, "127.0.0.1", resolve));
  const arrived = once(slow, "request");
  const served = await serve();
  const { token } = JSON.parse(readFileSync(join(root, "posthorn-data", "cli.json"), "utf8")) as {
    token: string;
  };
  const call = (route: string, body: object): Promise<Response> =>
    fetch(`${served.url}/api/v1/${route}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  await call("endpoints", { url: `http://127.0.0.1:${(slow.address() as AddressInfo).port}/` });
  await call("events", { type: "order.paid", data: {} });
  await arrived;
  served.child.kill("SIGINT");
  while (!served.err().includes('"msg":"stopping')) await new Promise((resolve) => setTimeout(resolve, 5));
  const ended = once(served.child, "exit");
  // Those of the first moments are taken for the same.
  const again = setInterval(() => served.child.kill("SIGINT"), 100);
  expect((await ended)[0]).toBe(130);
  clearInterval(again);
  for (const answer of waiting) answer();
  slow.close();
});
