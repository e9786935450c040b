import type { Case } from "../case.js";
import { casesOf } from "../case.js";
import { alike } from "../expectation.js";
import { inboxConcurrency } from "./concurrency.js";
import { inboxContract } from "./contract.js";
import { inboxFailures } from "./failures.js";
import { inboxFidelity } from "./fidelity.js";
import { inboxHandlerStatements } from "./handler-statements.js";
import type { InboxHarness, InboxPledge } from "./harness.js";
import { inboxFacts } from "./harness.js";
import { inboxLostAnswers } from "./lost-answers.js";
import { inboxRetention } from "./retention.js";
import { inboxTransactions } from "./transactions.js";

/**
 * Every promise of an inbox store, as cases for any test runner. Run them all; list those that are declined
 * as skipped, with their reason.
 *
 * @example
 * for (const { name, declined, run } of inboxConformance(harness)) {
 *   test(name, { skip: declined ?? false }, run);
 * }
 */
export function inboxConformance<Tx>(harness: InboxHarness<Tx>): Case[] {
  // The cases only hand a transaction back to the harness that it came from; they need not know its type.
  const known = harness as unknown as InboxHarness<unknown>;
  const topics = {
    contract: [claims(known), ...inboxContract, ...inboxFailures],
    concurrency: inboxConcurrency,
    transactions: [...inboxTransactions, ...inboxHandlerStatements, ...inboxLostAnswers],
    retention: inboxRetention,
    fidelity: inboxFidelity,
  };
  return casesOf(topics, inboxFacts(known), known);
}

function claims({ capabilities, transactions }: InboxHarness<unknown>): InboxPledge {
  return {
    name: "the store says of itself what its harness claims",
    check(bench) {
      for (const store of bench.stores) {
        const found = { ...store.capabilities, transactions: store.transactions };
        alike(found, { ...capabilities, transactions }, "what the store says");
      }
      return Promise.resolve();
    },
  };
}
