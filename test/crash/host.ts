import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { createInterface } from "node:readline";
import { json } from "node:stream/consumers";
import type { FaultPoint } from "../../library/src/fault-point.js";
import type { HostOptions } from "./host/work.mjs";

export type { HostOptions };

/** Where a host is to end itself by `kill -9`. */
export interface KillAt {
  readonly point: FaultPoint;
  /** At which time that it comes there. */
  readonly nth: number;
  /** Stands still there instead, until it is let go on. */
  readonly stops?: boolean;
}

/** How a host ended. */
export interface HostEnd {
  readonly signal: NodeJS.Signals | null;
  /** The point at which it killed itself; undefined when somebody else ended it. */
  readonly point: string | undefined;
}

/** Where the hosts are installed: by the setup of the tests, or by whoever has started this process. */
export const HOME_VARIABLE = "POSTHORN_CRASH_HOME";

// Asked for only here: outside of the test runner, its module cannot even be loaded.
async function hostsHome(): Promise<string> {
  return process.env[HOME_VARIABLE] ?? (await import("vitest")).inject("crashHome");
}

// The last resort when a test run ends without its teardown: nothing may stay behind.
const running = new Set<ChildProcess>();
process.once("exit", () => running.forEach((child) => child.kill("SIGKILL")));

/** A host application in a process of its own, on the built library, with fault points. */
export class Host {
  readonly port: number;
  readonly ended: Promise<HostEnd>;
  /** Resolves when it stands still at the point for which it was armed. */
  readonly stopped: Promise<void>;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number, hears: Pick<Host, "ended" | "stopped">) {
    this.#child = child;
    this.port = port;
    this.ended = hears.ended;
    this.stopped = hears.stopped;
  }

  static async start(options: HostOptions): Promise<Host> {
    const program = `host/${options.program ?? "host"}-process.mjs`;
    const args = ["--conditions", "posthorn-faults", program, JSON.stringify(options)];
    const child = spawn(process.execPath, args, {
      cwd: await hostsHome(),
      stdio: ["pipe", "pipe", "pipe"],
    });
    running.add(child);
    // A write to a host that is already dead is no failure of the test.
    child.stdin.on("error", () => undefined);
    let said = "";
    let point: string | undefined;
    child.stderr.on("data", (text: Buffer) => (said = (said + text.toString()).slice(-8192)));
    const closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
    const ended = closed.then(([code, signal]) => {
      running.delete(child);
      // Nobody but a test ends it: a host that stopped by itself has met an error that it did not survive.
      if (signal !== "SIGKILL" && code !== 0)
        console.error(`The host ended with ${code ?? signal}:\n${said}`);
      return { signal, point };
    });
    let onStop: (() => void) | undefined;
    const stopped = new Promise<void>((resolve) => (onStop = resolve));
    const port = await new Promise<number>((resolve, reject) => {
      createInterface({ input: child.stdout }).on("line", (line) => {
        const [word, value] = line.split(" ");
        if (word === "ready") resolve(Number(value));
        if (word === "killed") point = value;
        if (word === "stopped") onStop?.();
      });
      void closed.then(() => reject(new Error(`The host ended before it was ready:\n${said}`)));
    });
    return new Host(child, port, { ended, stopped });
  }

  /** Arms a point; the host says when it is done. */
  async arm(at: KillAt): Promise<void> {
    await this.post("/arm", at);
  }

  /** Asks the host for something that is no event. Throws when it ends meanwhile. */
  async post(path: string, body: unknown): Promise<{ status: number; verdict: string }> {
    const asked = request({ port: this.port, host: "127.0.0.1", path, method: "POST" });
    asked.end(JSON.stringify(body));
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    response.resume();
    await once(response, "end");
    return { status: response.statusCode ?? 0, verdict: String(response.headers["posthorn-verdict"]) };
  }

  /** The same, of a host that answers in JSON. */
  async ask(path: string, body: unknown): Promise<unknown> {
    const asked = request({ port: this.port, host: "127.0.0.1", path, method: "POST" });
    asked.end(JSON.stringify(body));
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    return json(response);
  }

  /** Lets it stand still, or go on, as an overloaded machine does. */
  freeze(frozen: boolean): void {
    this.#child.kill(frozen ? "SIGSTOP" : "SIGCONT");
  }

  /** Asks it to end, as a deploy does, and waits until it has. */
  async terminate(): Promise<HostEnd> {
    this.#child.kill("SIGTERM");
    return this.ended;
  }

  /** `kill -9`, from outside and at any moment. */
  async kill(): Promise<HostEnd> {
    this.#child.kill("SIGKILL");
    return this.ended;
  }
}
