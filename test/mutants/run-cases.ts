// Runs cases by name, in a process of their own: built by bundle.ts, started by scripts/mutants.ts, which reads its report.
import { comeToEnd } from "./at-end.js";
import type { DatabaseName, SuiteName } from "./mutant.js";
import { suitesOf } from "./suites.js";

/** A case, by its suite and its name. */
export interface CaseName {
  readonly suite: SuiteName;
  readonly case: string;
}

/** What is to be run. */
export interface Order {
  readonly database: DatabaseName;
  readonly url: string;
  readonly cases: readonly CaseName[];
}

/** What came of one case; `error` is undefined where it is green. */
export interface Ran extends CaseName {
  readonly error: string | undefined;
}

// A bug may make a case wait for ever.
const PATIENCE_MS = 20_000;

async function ran({ database, url, cases }: Order): Promise<readonly Ran[]> {
  const suites = suitesOf(database, url);
  const all: Ran[] = [];
  for (const wanted of cases) {
    const found = suites[wanted.suite].find(({ name }) => name === wanted.case);
    all.push({ ...wanted, error: found === undefined ? "there is no such case" : await errorOf(found) });
  }
  return all;
}

async function errorOf({ run }: { readonly run: () => Promise<void> }): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`it did not end within ${PATIENCE_MS} ms`), PATIENCE_MS);
  });
  const ended = run().then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  return Promise.race([ended, late]).finally(() => clearTimeout(timer));
}

// What a planted bug leaves unhandled is not what its case is judged by.
process.on("unhandledRejection", () => undefined);
const report = await ran(JSON.parse(process.argv[2] ?? "") as Order);
const end = (): never => process.exit();
process.send?.(report, () => {
  // Some bugs keep connections busy: they are not waited for.
  setTimeout(end, 2000).unref();
  void comeToEnd().then(end, end);
});
