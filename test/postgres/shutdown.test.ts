import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { fileURLToPath } from "node:url";
import { signedRequest } from "posthorn/testing";
import { expect, it } from "vitest";
import { freshDatabase } from "../services.js";
import { drivers } from "./drivers.js";

// The snippet of docs/receiving.md, as it stands there, in a process of its own.

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(new URL("../../docs/receiving.md", import.meta.url), "utf8");
const block = /## Shut down\n\n```ts\n([^]*?)```/.exec(page)?.[1] ?? "";

const url = await freshDatabase();
const host = drivers[0]?.open(url, { max: 2 });
await host?.rows("create table effect (event_id text not null)");

/** What the snippet imports from the host's own file. */
const RECEIVER = `
  import { Pool } from "pg";
  import { createReceiver } from "posthorn";
  import { postgresStore } from "posthorn/postgres";
  import { stripe } from "posthorn/providers";
  import { TEST_SECRETS } from "posthorn/testing";
  const pool = new Pool({ max: 20, connectionString: process.env.DATABASE_URL });
  const store = postgresStore({ client: pool });
  const receiver = createReceiver({
    store,
    sources: { stripe: stripe({ secrets: TEST_SECRETS.stripe.verifying }) },
    handlers: {
      "*": async (event, { tx }) => {
        console.log("handling");
        await new Promise((resolve) => setTimeout(resolve, 500));
        await tx.query("insert into effect values ($1)", [event.id]);
      },
    },
  });
  void receiver.keepPurged({ everyMs: 60_000, signal: new AbortController().signal });
`;

/** The snippet as a program: on a free port of loopback, with this file's database. */
function program(listening: string): string {
  const own = block
    .replace(/import \{ pool, receiver, store \}.*\n/, RECEIVER)
    .replace(/const server = .*\n/, listening)
    .replaceAll(": Promise<void>", "");
  return `${own}\nserver.on("listening", () => console.log("port " + server.address().port));`;
}

it.each([
  [
    "node:http",
    'const server = createServer(nodeListener(receiver, { source: "stripe" })).listen(0, "127.0.0.1");\n',
  ],
  [
    "an application as Express makes it",
    `const app = (request, response) => routes.get(request.url)?.(request, response);
     const routes = new Map([["/hooks", nodeListener(receiver, { source: "stripe" })]]);
     app.listen = (...where) => createServer(app).listen(...where);
     const server = app.listen(0, "127.0.0.1");\n`,
  ],
])(
  "a process on %s finishes what is under way at SIGTERM, and ends with 0",
  async (_server, listening) => {
    expect(block).toContain("receiver.stop()");
    const child = spawn(process.execPath, ["--input-type=module", "-e", program(listening)], {
      cwd: root,
      env: { ...process.env, DATABASE_URL: url },
    });
    let said = "";
    let failed = "";
    child.stdout.on("data", (data: Buffer) => (said += data.toString()));
    child.stderr.on("data", (data: Buffer) => (failed += data.toString()));
    const exited = once(child, "exit");
    try {
      await expect.poll(() => said + failed, { timeout: 20_000 }).toMatch(/port (\d+)/);
      const port = Number(/port (\d+)/.exec(said)?.[1]);
      const id = `evt_${port}`;
      // Kept alive, as providers do: such a connection must not keep the process alive.
      const agent = new Agent({ keepAlive: true });
      const answered = post({ port, agent, signed: await signedRequest("stripe", { id }) });
      await expect.poll(() => said, { timeout: 10_000 }).toContain("handling");
      const stoppedAt = performance.now();
      child.kill("SIGTERM");
      expect(await answered).toBe(200);
      const [code, signal] = (await exited) as [number | null, string | null];
      expect([code, signal, failed]).toEqual([0, null, ""]);
      // A pool that nobody ends would hold the process for ten seconds more.
      expect(performance.now() - stoppedAt).toBeLessThan(8000);
      const effects = await host?.rows(`select 1 as one from effect where event_id = '${id}'`);
      expect(effects).toHaveLength(1);
      await expect(post({ port, agent, signed: await signedRequest("stripe") })).rejects.toMatchObject({
        code: "ECONNREFUSED",
      });
      agent.destroy();
    } finally {
      child.kill("SIGKILL");
    }
  },
  60_000,
);

interface Posting {
  readonly port: number;
  readonly agent: Agent;
  readonly signed: Awaited<ReturnType<typeof signedRequest>>;
}

function post({ port, agent, signed }: Posting): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sending = request(
      { host: "127.0.0.1", port, path: "/hooks", method: "POST", agent, headers: signed.headers as never },
      (response) => {
        response.resume();
        response.on("end", () => resolve(response.statusCode));
      },
    );
    sending.on("error", reject);
    sending.end(signed.body);
  });
}
