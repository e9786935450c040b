import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../packed/checkout.js";
import { runPage } from "./run-page.js";
import type { PageRun } from "./run-page.js";

// The programs of docs/replaying.md on a database, with a store of the page.

const PAGE = "docs/replaying.md";
const SECRET = "whsec_of_this_test";

/** A database on which the page's programs run. */
export interface ReplayingDatabase extends Pick<PageRun, "named" | "env" | "edits"> {
  /** Imports, and the tables, before the store of the page is opened: `run` runs a statement. */
  readonly prepare: string;
  /** A handler that calls `handle`, and writes the event into `payment`. */
  readonly handler: string;
}

/** More than one page, of ids that are the other way round: what is replayed is not what the ids would say. */
export const EVENTS = 150;

/** What `replayed` gives for "wrong VAT". */
export const REPLAYED = `${EVENTS} of ${EVENTS} are to be handled again
${2 * EVENTS} true evt_${EVENTS}
${EVENTS} deeds
replay default/stripe/evt_${EVENTS} at default staged true wrong VAT
`;

/** Stores and handles the events, then goes on with what is given. */
function run(database: ReplayingDatabase, main: string, args: readonly string[] = []): Promise<string> {
  const { prepare, handler, env, ...blocks } = database;
  return runPage({
    page: PAGE,
    ...blocks,
    args,
    // In production a failure is not printed where there is no observer: one of the handlers fails on purpose.
    env: { ...env, NODE_ENV: "production" },
    main: `
      import { createReceiver, createWorker } from "posthorn";
      import { stripe } from "posthorn/providers";
      import { signedRequest } from "posthorn/testing";
      ${prepare}
      await run("drop table if exists payment");
      await run("create table payment (event_id text primary key)");
      const { store } = await import("./store.js");
      const secrets = "${SECRET}";
      const sources = { stripe: { verifier: stripe({ secrets }), key: { json: "/data/object/customer" } } };
      const receiver = createReceiver({ mode: "store_first", store, sources });
      const seen = [];
      const refused = new Set();
      const handle = (id) => {
        if (refused.has(id)) throw new Error("refused");
        seen.push(id);
      };
      const worker = createWorker({ store, handlers: { "*": ${handler} }, retry: { waitsMs: [] } });
      for (let n = ${EVENTS}; n > 0; n--) {
        const id = "evt_" + String(n).padStart(3, "0");
        const data = { customer: "cus_1" };
        await receiver.receive("stripe", await signedRequest("stripe", { id, type: "a", data, secrets }));
      }
      ${main}
      process.exit();`,
  });
}

/** The program `replay.ts` after all was handled, with what it is given behind the span; then what was handled, and what was written down. */
export function replayed(database: ReplayingDatabase, ...last: readonly string[]): Promise<string> {
  const span = [new Date(Date.now() - 86_400_000), new Date(Date.now() + 86_400_000)];
  const main = `
    await worker.drain();
    await import("./replay.js");
    await worker.drain();
    const half = seen.length / 2;
    console.log(seen.length, seen.slice(0, half).join() === seen.slice(half).join(), seen[0]);
    const { existsSync, readFileSync } = await import("node:fs");
    const { userInfo } = await import("node:os");
    const lines = existsSync("deeds.log") ? readFileSync("deeds.log", "utf8").trimEnd().split("\\n") : [];
    console.log(lines.length, "deeds");
    const { verb, on, answer, by, because } = JSON.parse(lines[0] ?? "{}");
    if (verb !== undefined) console.log(verb, on, answer, by === userInfo().username, because);`;
  return run(database, main, [...span.map((at) => at.toISOString()), ...last]);
}

/** The program `reconcile.ts` after the table and the inbox have come apart, on two pages of its answer. */
export function reconciled(database: ReplayingDatabase): Promise<string> {
  return run(
    database,
    `
    refused.add("evt_001");
    await worker.drain();
    for (const id of ["evt_140", "evt_007"]) await run("delete from payment where event_id = '" + id + "'");
    await run("insert into payment values ('evt_001')");
    await import("./reconcile.js");`,
  );
}

/** How `wasApplied` is written on SQLite, by the page. */
export function onSqlite(code: string): string {
  const page = readFileSync(join(root, PAGE), "utf8");
  const [, form = ""] = /SQLite it may not await: `([^`]+)`/.exec(page) ?? [];
  return code.replace(/wasApplied: async [^]*?\n    \}/, `wasApplied: ${form}`);
}
