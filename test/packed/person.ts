import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, onTestFinished } from "vitest";
import { personsEnvironment, runProgram } from "./run-program.js";
import type { ProgramResult } from "./run-program.js";

// The last resort when a test run ends without its teardown: nothing may stay behind.
const running = new Set<ChildProcess>();
process.once("exit", () => running.forEach((child) => child.kill("SIGKILL")));

/** Somebody with a shell in an empty directory and the installed command `posthorn`, for the length of one test. */
export class Person {
  readonly folder: string;
  readonly #env: Readonly<Record<string, string>>;

  constructor(env: Readonly<Record<string, string>> = {}) {
    this.folder = mkdtempSync(join(tmpdir(), "posthorn-person-"));
    this.#env = env;
    onTestFinished(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  /** Types one command, and waits for its end. */
  async types(...args: readonly string[]): Promise<ProgramResult> {
    return runProgram(command(), args, { cwd: this.folder, env: this.#env });
  }

  /** A command that has to succeed; what it printed. */
  async does(...args: readonly string[]): Promise<string> {
    const { code, out, err } = await this.types(...args);
    expect({ code, err: code === 0 ? "" : err }, `posthorn ${args.join(" ")}`).toEqual({ code: 0, err: "" });
    return out;
  }

  /** The document that a command prints for scripts. */
  async reads<Answer>(...args: readonly string[]): Promise<Answer> {
    return JSON.parse(await this.does(...args, "--json")) as Answer;
  }

  /** The items of a list. */
  async lists<Item>(...args: readonly string[]): Promise<readonly Item[]> {
    return (await this.reads<{ readonly items: readonly Item[] }>(...args)).items;
  }

  /** `posthorn serve --dev` on a free port, until it is ready. */
  async serves(...flags: readonly string[]): Promise<Served> {
    const args = ["serve", "--dev", "--listen", "127.0.0.1:0", ...flags];
    const child = spawn(command(), args, {
      cwd: this.folder,
      env: personsEnvironment(this.#env),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const served = new Served(child);
    await served.ready;
    return served;
  }
}

function command(): string {
  return join(inject("installed"), "node_modules/.bin/posthorn");
}

/** A server that runs. */
export class Served {
  readonly child: ChildProcess;
  /** Resolves when it can be used. */
  readonly ready: Promise<void>;
  readonly #ended: Promise<unknown>;
  #out = "";
  #err = "";

  constructor(child: ChildProcess) {
    this.child = child;
    running.add(child);
    this.#ended = once(child, "close").then(() => running.delete(child));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.#err += text));
    this.ready = new Promise((resolve, reject) => {
      child.stdout?.setEncoding("utf8").on("data", (text: string) => {
        this.#out += text;
        if (this.#out.includes("Try it:")) resolve();
      });
      child.once("close", () => reject(new Error(`It ended before it was ready:\n${this.#err}`)));
    });
    onTestFinished(() => this.kill());
  }

  /** What it has printed for people. */
  get out(): string {
    return this.#out;
  }

  /** What it has logged. */
  get err(): string {
    return this.#err;
  }

  get url(): string {
    return /ready at (\S+)/.exec(this.#out)?.[1] ?? "";
  }

  /** `kill -9`. */
  async kill(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.#ended;
  }

  /** Ctrl-C; says what it ended with. */
  async interrupt(): Promise<number | null> {
    this.child.kill("SIGINT");
    await this.#ended;
    return this.child.exitCode;
  }
}

/** Waits until it is so; the runner's time limit ends a wait for what never comes. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
}
