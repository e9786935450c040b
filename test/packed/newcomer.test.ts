import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { signedRequest } from "posthorn/testing";
import { expect, inject, it, onTestFinished } from "vitest";
import { freePort } from "../services/spawned.js";
import { root } from "./checkout.js";
import { installLibrary, link } from "./install.js";
import { until } from "./person.js";
import { personsEnvironment } from "./run-program.js";

// The whole program of docs/storing-first.md, pasted into an empty project by somebody who has just installed the package.

const page = readFileSync(join(root, "docs/storing-first.md"), "utf8");
const [, shop = ""] = /```ts\n\/\/ shop\.ts\n([^]*?)```/.exec(page) ?? [];
const secrets = "whsec_of_a_newcomer";

it("the whole program of storing-first.md runs in an empty project: it handles in order, redrives after a mend, and ends at SIGTERM with 0", async () => {
  const project = await Project.make();
  const first = project.runs("shop.mjs", shop);
  expect(await project.post("evt_1", "one")).toBe("stored");
  expect(await project.post("evt_2", "two")).toBe("stored");
  expect(await project.post("evt_1", "one")).toBe("duplicate");
  await until(() => project.orders() === "one two");
  expect(await first.stop()).toEqual({ code: 0, out: "", err: "" });

  // The next deploy has a mistake in it, and no patience: its one attempt makes a dead letter.
  const broken = project.runs(
    "shop.mjs",
    changed({ "into orders": "into ordres", "maxAttempts: 8": "maxAttempts: 1" }),
  );
  expect(await project.post("evt_3", "three")).toBe("stored");
  expect(await project.post("evt_4", "four")).toBe("stored");
  await until(() => broken.err.includes("has given up"));
  expect(broken.err).toMatch(/evt_3 failed, attempt 1: SqliteError: no such table: ordres\n\s+at /);
  expect((await broken.stop()).code).toBe(0);
  expect(project.orders()).toBe("one two");

  project.writes("shop.mjs", shop);
  const script = 'import { redriveAll } from "./shop.mjs";\nawait redriveAll();\n';
  const mended = project.runs("redrive.mjs", script);
  await until(() => project.orders() === "one two three four");
  const { code, out, err } = await mended.stop();
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(/^dlv_\w+ checkout\.session\.completed .*no such table: ordres\n$/);
});

/** The program with these words exchanged. */
function changed(words: Readonly<Record<string, string>>): string {
  return Object.entries(words).reduce((code, [find, replace]) => {
    if (code.split(find).length !== 2) throw new Error(`The program has this not once: ${find}`);
    return code.replace(find, replace);
  }, shop);
}

/** A folder with the packed library and better-sqlite3, compiled already. */
class Project {
  readonly #folder: string;
  readonly #port: number;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
  }

  static async make(): Promise<Project> {
    const folder = mkdtempSync(join(tmpdir(), "posthorn-newcomer-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    await installLibrary(folder, inject("tarballs").library);
    link(join(folder, "node_modules"), "better-sqlite3");
    return new Project(folder, await freePort());
  }

  /** Pastes a program; on a free port of loopback, because the page's own may be taken. */
  writes(file: string, code: string): void {
    writeFileSync(
      join(this.#folder, file),
      code.replace("listen(3000)", `listen(${this.#port}, "127.0.0.1")`),
    );
  }

  runs(file: string, code: string): Running {
    this.writes(file, code);
    const env = personsEnvironment({ STRIPE_WEBHOOK_SECRET: secrets });
    return new Running(spawn(process.execPath, [file], { cwd: this.#folder, env, stdio: "pipe" }));
  }

  /** Signs an event of the one customer as Stripe does, and posts it until the program listens. */
  async post(id: string, order: string): Promise<string | null> {
    const data = { customer: "cus_1", client_reference_id: order };
    const wanted = { id, type: "checkout.session.completed", data, secrets };
    const { headers, body } = await signedRequest("stripe", wanted);
    const url = `http://127.0.0.1:${this.#port}/`;
    let answer: Response | undefined;
    await until(async () => {
      answer = await fetch(url, { method: "POST", headers, body }).catch(() => undefined);
      return answer !== undefined;
    });
    return answer?.headers.get("posthorn-verdict") ?? null;
  }

  /** The paid orders, in the order in which they were written. */
  orders(): string {
    const db = new Database(join(this.#folder, "shop.db"), { fileMustExist: true });
    try {
      return db.prepare("select id from orders where status = 'paid' order by rowid").pluck().all().join(" ");
    } finally {
      db.close();
    }
  }
}

/** A program that runs until it is stopped. */
class Running {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  out = "";
  err = "";

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = once(child, "close");
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.out += text));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.err += text));
    onTestFinished(() => void child.kill("SIGKILL"));
  }

  async stop(): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
    this.#child.kill("SIGTERM");
    await this.#ended;
    return { code: this.#child.exitCode, out: this.out, err: this.err };
  }
}
