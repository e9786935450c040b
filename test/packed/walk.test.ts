import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { freePort } from "../services/spawned.js";
import { copyCheckout, root } from "./checkout.js";
import { until } from "./person.js";
import { personsEnvironment, runProgram } from "./run-program.js";
import { asShown, readWalk } from "./walk.js";

// A block of these alone may be typed until it shows what it should: events take a moment to be delivered.
const ONLY_LOOKS = /^(npx posthorn (events|lanes|dead)\n)+$/;

it("the README's five minutes go as it says, word for word", { timeout: 180_000 }, async () => {
  const walker = await Walker.start();
  const steps = readWalk(readFileSync(join(root, "README.md"), "utf8"), "Five minutes");
  expect(steps.length).toBeGreaterThan(8);
  for (const step of steps) {
    if (step.kind === "stays_open") await walker.open(step.name, step.shell, step.shows);
    else if (step.kind === "runs") await walker.run(step.shell, step.shows);
    else await walker.hasPrinted(step.name, step.shows);
  }
  const landed = walker.printedBy("receiver").trim().split("\n");
  const [first, failed, , , redriven, last] = landed.map((line) => line.split(" ")[1]);
  expect(landed).toHaveLength(6);
  expect(failed).toBe(redriven);
  expect(new Set([first, failed, last]).size).toBe(3);
  // What the shell around it ends with is the shell's own affair.
  expect(await walker.interrupt("server")).toContain('"msg":"stopped"');
});

/** Somebody who follows the README with several terminals in one clone. */
class Walker {
  readonly #folder: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #ports: ReadonlyMap<string, string>;
  readonly #terminals = new Map<string, Terminal>();

  private constructor(folder: string, ports: ReadonlyMap<string, string>) {
    this.#folder = folder;
    this.#ports = ports;
    this.#env = {
      PATH: `${join(folder, "shims")}${delimiter}${process.env["PATH"] ?? ""}`,
      POSTHORN_LISTEN: `127.0.0.1:${ports.get("8710") ?? ""}`,
    };
  }

  static async start(): Promise<Walker> {
    const folder = mkdtempSync(join(tmpdir(), "posthorn-walk-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    copyCheckout(folder);
    skipInstall(folder);
    // The only words that are changed: both ports may be taken on this machine.
    const ports = [String(await freePort()), String(await freePort())] as const;
    return new Walker(
      folder,
      new Map([
        ["8710", ports[0]],
        ["8711", ports[1]],
      ]),
    );
  }

  async open(name: string, shell: string, shows: string): Promise<void> {
    const terminal = new Terminal(this.#withPorts(shell), this.#folder, this.#env);
    this.#terminals.set(name, terminal);
    await terminal.until(asShown(this.#withPorts(shows)));
  }

  async run(shell: string, shows: string): Promise<void> {
    const typed = this.#withPorts(shell);
    const shown = asShown(this.#withPorts(shows));
    const type = () => runProgram("bash", ["-e", "-c", typed], { cwd: this.#folder, env: this.#env });
    let result = await type();
    if (ONLY_LOOKS.test(shell))
      await until(async () => shown.test(result.out) || ((result = await type()), false));
    expect(result.code, `${shell}${result.err}`).toBe(0);
    if (shows !== "") expect(result.out, shell).toMatch(shown);
  }

  async hasPrinted(name: string, shows: string): Promise<void> {
    await this.#terminals.get(name)?.until(asShown(shows));
  }

  printedBy(name: string): string {
    return this.#terminals.get(name)?.out ?? "";
  }

  /** Ctrl-C in a terminal; what was logged there. */
  async interrupt(name: string): Promise<string | undefined> {
    return this.#terminals.get(name)?.interrupt();
  }

  #withPorts(text: string): string {
    return [...this.#ports].reduce((before, [port, free]) => before.replaceAll(port, free), text);
  }
}

/** `npm ci` has been run, in the repository; here it would remove the packages that are linked. */
function skipInstall(folder: string): void {
  mkdirSync(join(folder, "shims"));
  const real = join(process.execPath, "../npm");
  const npm = existsSync(real) ? real : "/usr/bin/npm";
  writeFileSync(join(folder, "shims/npm"), `#!/bin/sh\n[ "$1" = ci ] || exec '${npm}' "$@"\n`, {
    mode: 0o755,
  });
}

/** A terminal in which something runs until Ctrl-C. */
class Terminal {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  out = "";
  #err = "";

  constructor(shell: string, cwd: string, env: Readonly<Record<string, string>>) {
    // A group of its own, as a terminal gives it: Ctrl-C goes to all of it.
    const child = spawn("bash", ["-e", "-c", shell], {
      cwd,
      env: personsEnvironment(env),
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    this.#ended = once(child, "close");
    child.stdout.setEncoding("utf8").on("data", (text: string) => (this.out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (this.#err += text));
    onTestFinished(async () => {
      this.#signal("SIGKILL");
      await this.#ended;
    });
  }

  async until(shown: RegExp): Promise<void> {
    await until(() => {
      if (this.#child.exitCode !== null) throw new Error(`It ended:\n${this.out}${this.#err}`);
      return shown.test(this.out);
    });
  }

  async interrupt(): Promise<string> {
    this.#signal("SIGINT");
    // Until nobody has its output open any more.
    await this.#ended;
    return this.#err;
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      process.kill(-(this.#child.pid ?? 0), signal);
    } catch {
      // It has ended by itself.
    }
  }
}
