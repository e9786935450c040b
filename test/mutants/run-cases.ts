// Runs cases by name, in a process of their own: built by bundle.ts, started by scripts/mutants.ts, which reads its report.
import { comeToEnd } from "./at-end.js";
import { CASE_PATIENCE_MS } from "./mutant.js";
import type { DatabaseName, Failure, SuiteName } from "./mutant.js";
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

/** What came of one case; `failure` is undefined where it is green. */
export interface Ran extends CaseName {
  readonly failure: Failure | undefined;
}

const NO_CASE: Failure = { how: "error", told: "there is no such case" };

async function ran({ database, url, cases }: Order): Promise<readonly Ran[]> {
  const suites = suitesOf(database, url);
  const all: Ran[] = [];
  for (const wanted of cases) {
    const found = suites[wanted.suite].find(({ name }) => name === wanted.case);
    all.push({ ...wanted, failure: found === undefined ? NO_CASE : await failureOf(found) });
  }
  return all;
}

async function failureOf({ run }: { readonly run: () => Promise<void> }): Promise<Failure | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Failure>((resolve) => {
    const told = `it did not end within ${CASE_PATIENCE_MS} ms`;
    timer = setTimeout(() => resolve({ how: "lateness", told }), CASE_PATIENCE_MS);
  });
  const ended = run().then(() => undefined, toFailure);
  return Promise.race([ended, late]).finally(() => clearTimeout(timer));
}

/** The kit's expectations throw errors of no class of their own, without a code. */
function toFailure(error: unknown): Failure {
  if (!(error instanceof Error)) return { how: "error", told: String(error) };
  const isExpectation = error.constructor === Error && !("code" in error);
  if (!isExpectation) return { how: "error", told: `${error.name}: ${error.message}` };
  return {
    how: error.message.includes("still waiting after") ? "lateness" : "expectation",
    told: error.message,
  };
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
