import type { Case } from "../case.js";
import { casesOf } from "../case.js";
import { dedupConcurrency, dedupContract } from "./contract.js";
import { dedupFidelity } from "./fidelity.js";
import type { DedupHarness } from "./harness.js";
import { dedupFacts } from "./harness.js";
import { dedupRetention } from "./retention.js";
import { dedupTransactions } from "./transactions.js";

/**
 * Every promise of a dedup adapter, as cases for any test runner. Run them all; list those that are declined
 * as skipped, with their reason.
 *
 * @example
 * for (const { name, declined, run } of dedupConformance(harness)) {
 *   test(name, { skip: declined ?? false }, run);
 * }
 */
export function dedupConformance(harness: DedupHarness): Case[] {
  const topics = {
    contract: dedupContract,
    concurrency: dedupConcurrency,
    transactions: dedupTransactions,
    retention: dedupRetention,
    fidelity: dedupFidelity,
  };
  return casesOf(topics, dedupFacts(harness), harness);
}
