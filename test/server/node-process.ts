import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { createClient } from "posthorn/client";
import type { Client } from "posthorn/client";

const file = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
export const TOKEN = `phk_${"k".repeat(43)}`;

/** A node of the server in a process of its own, which can be killed. */
export interface NodeProcess {
  readonly url: string;
  readonly client: Client;
  /** As the kernel or an operator in a hurry does it. */
  kill(): Promise<void>;
}

/** Starts a node; its token is always the same, so that nodes and restarts share it. */
export async function startNode(cwd: string, flags: readonly string[]): Promise<NodeProcess> {
  const main = ["--import", import.meta.resolve("tsx"), file("server/src/main.ts")];
  const args = [...main, "serve", "--dev", "--listen", "127.0.0.1:0", "--log-level", "warn", ...flags];
  const child: ChildProcess = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, POSTHORN_FIRST_TOKEN: TOKEN, TSX_TSCONFIG_PATH: file("tsconfig.json") },
  });
  let printed = "";
  const ended = once(child, "exit");
  const url = await new Promise<string>((resolve, reject) => {
    const hear = (chunk: Buffer): void => {
      printed += chunk.toString();
      const found = printed.includes("Try it:") ? /ready at (\S+)/.exec(printed)?.[1] : undefined;
      if (found !== undefined) resolve(found);
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
    void ended.then(() => reject(new Error(`It ended before it was ready: ${printed}`)));
  });
  return {
    url,
    client: createClient({ url, token: TOKEN, timeoutMs: 60_000 }),
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** An endpoint that answers as it is told, and keeps what it has acknowledged. */
export interface Sink {
  readonly url: string;
  readonly landed: { readonly id: string; readonly key: string; readonly at: number }[];
  status: number;
  close(): void;
}

export async function startSink(status: number): Promise<Sink> {
  const landed: Sink["landed"] = [];
  const server: Server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      if (sink.status < 300) {
        const { "webhook-id": id, "posthorn-key": key } = request.headers;
        landed.push({ id: String(id), key: String(key), at: Date.now() });
      }
      response.writeHead(sink.status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const sink: Sink = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    landed,
    status,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return sink;
}

/** Waits for something that comes by itself. */
export async function eventually(
  what: string,
  withinMs: number,
  holds: () => Promise<boolean>,
): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`It did not come: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
