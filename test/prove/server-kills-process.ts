import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createClient } from "posthorn/client";
import type { Client } from "posthorn/client";
import { freePort } from "../services/spawned.js";

export interface GatewayOptions {
  /** Where both packages are installed. */
  readonly installed: string;
  readonly dataDir: string;
  /** Without one: SQLite. */
  readonly database?: string;
  readonly masterKey: string;
}

const TOKEN = `phk_${"k".repeat(43)}`;
// As short as they may be: what a killed one had under way waits for the end of its lease.
const TIMES = ["--attempt-timeout", "1s", "--lease", "6100ms", "--poll", "100ms"];

// The last resort when a campaign breaks off: nothing may stay behind.
const running = new Set<ChildProcess>();
process.once("exit", () => running.forEach((child) => child.kill("SIGKILL")));

/** `posthorn serve`, to be killed and started again, always at the same address. */
export class Gateway {
  readonly url: string;
  readonly client: Client;
  readonly #options: GatewayOptions;
  #child: ChildProcess | undefined;
  readonly #asked = new WeakSet<ChildProcess>();
  #ready: Promise<void> = Promise.resolve();
  /** Ends that nobody had asked for. */
  readonly faults: string[] = [];

  private constructor(options: GatewayOptions, port: number) {
    this.#options = options;
    this.url = `http://127.0.0.1:${port}`;
    this.client = createClient({ url: this.url, token: TOKEN });
  }

  /** The first start, which makes the tables. */
  static async open(options: GatewayOptions): Promise<Gateway> {
    const gateway = new Gateway(options, await freePort());
    await gateway.start();
    return gateway;
  }

  /** Starts it again; resolves when it can be used. */
  start(): Promise<void> {
    this.#ready = this.#spawn();
    return this.#ready;
  }

  /** Resolves when the one that runs, or starts, can be used. */
  ready(): Promise<void> {
    return this.#ready;
  }

  /** `kill -9`. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** As a deploy does; says whether it ended with 0. */
  async stop(): Promise<boolean> {
    return (await this.#end("SIGTERM")) === 0;
  }

  async #spawn(): Promise<void> {
    const { installed, dataDir, database, masterKey } = this.#options;
    const program = join(installed, "node_modules/posthorn-server/dist/main.js");
    const where = ["--listen", new URL(this.url).host, "--data-dir", dataDir, "--log-level", "error"];
    const child = spawn(process.execPath, [program, "serve", "--dev", ...where, ...TIMES], {
      cwd: installed,
      env: {
        PATH: process.env["PATH"],
        POSTHORN_FIRST_TOKEN: TOKEN,
        POSTHORN_MASTER_KEY: masterKey,
        ...(database !== undefined && { POSTHORN_DATABASE: database }),
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    running.add(child);
    this.#child = child;
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-8192)));
    child.once("close", () => {
      running.delete(child);
      if (!this.#asked.has(child))
        this.faults.push(`ended with ${child.exitCode ?? child.signalCode}: ${said}`);
    });
    await new Promise<void>((resolve, reject) => {
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        if (text.includes("Posthorn is ready")) resolve();
      });
      child.once("close", () => reject(new Error(`The server ended before it was ready:\n${said}`)));
    });
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    if (child === undefined || !running.has(child)) return null;
    this.#asked.add(child);
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
    return child.exitCode;
  }
}
