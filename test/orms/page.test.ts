import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import type { Receiver } from "posthorn";
import { signedRequest } from "posthorn/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { blocksOf } from "../doc-snippets/blocks.js";
import { freshDatabase } from "../services.js";
import { isChosen } from "./subjects/all.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = fileURLToPath(new URL("snippets/", import.meta.url));
const names = readdirSync(folder).filter((name) => name.endsWith(".ts"));

const run = names.filter((name) => isChosen(name.replace(".ts", "")));
// The types that the programs are compiled with are those that they run on.
const project = run.length === names.length ? "test/orms" : "test/orms/newest";

const url = await freshDatabase();
const host = new Client({ connectionString: url });
beforeAll(async () => {
  await host.connect();
  await host.query("create table public.paid_invoice (id text primary key, customer text)");
});
afterAll(() => host.end());

/** What a program writes, where it is not its own name. */
const WRITES: Readonly<Record<string, string>> = {
  "sqlite.ts": "drizzle on SQLite",
  "type-orm.ts": "typeorm",
};

/** A program of the page: what it exports beside its receiver is to be closed. */
interface Program {
  readonly receiver: Receiver;
  readonly [name: string]: unknown;
}

async function load(name: string, secret: string): Promise<Program> {
  process.env.DATABASE_URL = url;
  process.env.STRIPE_WEBHOOK_SECRET = secret;
  return (await import(`./snippets/${name}`)) as Program;
}

/** Who paid, by the host's own database or by the program's. */
async function customersOf({ db }: Program): Promise<unknown[]> {
  const text = "select customer from paid_invoice";
  if (can(db, "prepare")) return (db.prepare(text) as { all(): unknown[] }).all();
  if (can(db, "exec") && can(db, "query")) return ((await db.query(text)) as { rows: unknown[] }).rows;
  return (await host.query(text)).rows;
}

function can<Verb extends string>(
  value: unknown,
  verb: Verb,
): value is Record<Verb, (...args: unknown[]) => unknown> {
  return typeof (value as Partial<Record<string, unknown>> | undefined)?.[verb] === "function";
}

async function close(program: Program): Promise<void> {
  for (const each of Object.values(program)) {
    const verb = ["$disconnect", "end", "destroy", "close"].find((name) => can(each, name));
    if (verb !== undefined && can(each, verb)) await each[verb]?.();
  }
}

describe("the page docs/orms.md", () => {
  it("shows the programs of this folder as they are", () => {
    const page = readFileSync(join(root, "docs/orms.md"), "utf8");
    const shown = blocksOf("docs/orms.md", page).map(({ code }) => `${code}\n`);
    const programs = names.map((name) => readFileSync(join(folder, name), "utf8"));
    expect(new Set(shown)).toEqual(new Set(programs));
  });

  it("listens to every pool of pg and to its connections: one that breaks would end the process", () => {
    const pools = names
      .map((name) => readFileSync(join(folder, name), "utf8"))
      .filter((text) => /new Pool\(/.test(text));
    expect(pools).toHaveLength(2);
    for (const program of pools) {
      expect(program).toContain('pool.on("error", ');
      expect(program).toContain('pool.on("connect", (connection) => connection.on("error", ');
    }
  });

  it("compiles with the types of the ORMs", { timeout: 120_000 }, async () => {
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const output = await new Promise((resolve) => {
      execFile(process.execPath, [tsc, "-p", join(root, project)], (_, stdout) => resolve(stdout));
    });
    expect(output).toBe("");
  });

  it.each(run)("has a program that applies an event once: %s", async (name) => {
    await host.query("truncate paid_invoice");
    const secret = "whsec_of_a_test";
    const program = await load(name, secret);
    const id = `evt_${name.replace(/\W/g, "_")}`;
    const request = await signedRequest("stripe", { type: "invoice.paid", id, secrets: secret });
    const replies = [
      await program.receiver.receive("stripe", request),
      await program.receiver.receive("stripe", request),
    ];
    const customers = await customersOf(program);
    await close(program);
    expect(replies.map(({ status, verdict }) => [status, verdict])).toEqual([
      [200, "applied"],
      [200, "duplicate"],
    ]);
    expect(customers).toEqual([{ customer: WRITES[name] ?? name.replace(".ts", "") }]);
  });
});
