import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createClient } from "posthorn/client";
import type { Client } from "posthorn/client";

const main = fileURLToPath(new URL("../../server/dist/main.js", import.meta.url));

/** A server as a person starts it, with a receiver that can be broken. */
export interface World {
  readonly url: string;
  readonly signInUrl: string;
  readonly token: string;
  readonly client: Client;
  readonly receiver: Receiver;
  readonly dataDir: string;
  stop(): Promise<void>;
}

/** Starts the built server on a new data directory, in dev mode: endpoints may be on loopback. */
export async function startWorld(...flags: readonly string[]): Promise<World> {
  const dataDir = mkdtempSync(join(tmpdir(), "posthorn-browser-"));
  const receiver = await startReceiver();
  const server = spawn(
    process.execPath,
    [main, "serve", "--dev", "--listen", "127.0.0.1:0", "--data-dir", dataDir, ...flags],
    { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, NO_COLOR: "1" } },
  );
  const printed = await printedBy(server, /Try it:/);
  const url = /ready at (\S+)/.exec(printed)?.[1] ?? "";
  const token = /(phk_[\w-]+)/.exec(printed)?.[1] ?? "";
  return {
    url,
    token,
    signInUrl: /(http:\S+\/sign-in#\S+)/.exec(printed)?.[1] ?? "",
    client: createClient({ url, token }),
    receiver,
    dataDir,
    stop: async () => {
      server.kill("SIGTERM");
      await new Promise((resolve) => server.once("exit", resolve));
      await receiver.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function printedBy(server: ChildProcess, last: RegExp): Promise<string> {
  let printed = "";
  return new Promise((resolve, reject) => {
    const hear = (chunk: Buffer): void => {
      printed += chunk.toString();
      if (last.test(printed)) resolve(printed);
    };
    server.stdout?.on("data", hear);
    server.stderr?.on("data", hear);
    server.once("exit", () => reject(new Error(`The server ended: ${printed}`)));
  });
}

export interface Receiver {
  readonly url: string;
  /** Ids, in the order in which they came. */
  readonly landed: readonly string[];
  /** What it answers from now on. */
  answer(status: number, body?: string): void;
  stop(): Promise<void>;
}

async function startReceiver(): Promise<Receiver> {
  const landed: string[] = [];
  let status = 200;
  let body = "";
  const server: Server = createServer((request: IncomingMessage, response) => {
    request.resume();
    request.on("end", () => {
      if (status < 300) landed.push(String(request.headers["webhook-id"]));
      response.writeHead(status, { "content-type": "text/plain" }).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    landed,
    answer: (next, text = "") => {
      status = next;
      body = text;
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Waits for something that comes by itself. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 45_000;
  while (Date.now() < deadline) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`It did not come: ${what}`);
}
