import type { Case } from "../case.js";
import { casesOf } from "../case.js";
import { alike } from "../expectation.js";
import { outboxApplying } from "./workers/applying.js";
import { outboxAttempts } from "./lanes/attempts.js";
import { outboxBothModes } from "./workers/both-modes.js";
import { outboxBriefClaims } from "./lanes/brief-claims.js";
import { outboxClaims } from "./lanes/claims.js";
import { outboxCursors, outboxLookupCursors } from "./operator/cursors.js";
import { outboxDeadBulk } from "./operator/dead-bulk.js";
import { outboxDead } from "./operator/dead.js";
import { outboxDeliveryLookups } from "./operator/delivery-lookups.js";
import { outboxEndpoints } from "./endpoints.js";
import { outboxEventLookups } from "./operator/event-lookups.js";
import { outboxExtending } from "./lanes/extending.js";
import { outboxFidelity, outboxLargeSequences } from "./fidelity.js";
import type { NarrowOutboxHarness, OutboxHarness, OutboxPledge } from "./harness.js";
import { outboxFacts } from "./harness.js";
import { outboxFilling } from "./workers/filling.js";
import { outboxHandlers } from "./workers/handlers.js";
import { outboxHeldViews } from "./workers/held-views.js";
import { outboxHolding } from "./workers/holding.js";
import { outboxInboxViews } from "./workers/inbox-views.js";
import { outboxIngest } from "./ingest.js";
import { outboxLaneLookups } from "./operator/lane-lookups.js";
import { outboxLongSteps } from "./workers/long-steps.js";
import { outboxLapses } from "./lanes/lapses.js";
import { outboxOperators } from "./operator/operators.js";
import { outboxOrder } from "./lanes/order.js";
import { outboxNewest } from "./workers/newest.js";
import { outboxPausing } from "./workers/pausing.js";
import { outboxRemoving } from "./workers/removing.js";
import { outboxRetention } from "./operator/retention.js";
import { outboxReplaying } from "./workers/replaying.js";
import { outboxRestores, outboxRetries } from "./operator/retries.js";
import { outboxRuns } from "./lanes/runs.js";
import { outboxSkips } from "./operator/skips.js";
import { outboxSetAside } from "./operator/set-aside.js";
import { outboxSettling } from "./lanes/settling.js";
import { outboxTransactions } from "./transactions.js";
import { outboxViews } from "./operator/views.js";
import { outboxWriting } from "./writing.js";

// The first whole number that a JavaScript number cannot tell from its neighbour.
const LARGE = 2n ** 53n + 1n;

// What an outbox promises that takes events in, finds them again and removes them in the end.
const GATEWAY = {
  retention: outboxRetention,
  ingest: outboxIngest,
  handlers: [
    ...outboxHandlers,
    ...outboxApplying,
    ...outboxBothModes,
    ...outboxLongSteps,
    ...outboxPausing,
    ...outboxRemoving,
    ...outboxNewest,
  ],
  holding: [...outboxHolding, ...outboxFilling, ...outboxHeldViews],
  "many dead letters": outboxDeadBulk,
  "events set aside": outboxSetAside,
  lookups: [...outboxEventLookups, ...outboxDeliveryLookups, ...outboxLaneLookups, ...outboxLookupCursors],
  views: [...outboxViews, ...outboxInboxViews, ...outboxReplaying],
};

/**
 * Every promise of an outbox, as cases for any test runner. Run them all; list those that are declined as skipped,
 * with their reason.
 *
 * @example
 * for (const { name, declined, run } of outboxConformance(harness)) {
 *   test(name, { skip: declined ?? false }, run);
 * }
 */
export function outboxConformance<Tx>(harness: OutboxHarness<Tx> | NarrowOutboxHarness<Tx>): Case[] {
  // The cases only hand a transaction back to the harness that it came from; they need not know its type.
  const known = harness as unknown as OutboxHarness<unknown>;
  const facts = outboxFacts(known);
  const topics = {
    contract: [claims(known), ...outboxWriting],
    transactions: outboxTransactions,
    endpoints: outboxEndpoints,
    order: outboxOrder,
    claims: [...outboxClaims, ...outboxBriefClaims, ...outboxExtending],
    settling: [...outboxSettling, ...outboxAttempts],
    runs: outboxRuns,
    lapses: outboxLapses,
    "dead letters": outboxDead,
    operators: [...outboxOperators, ...outboxSkips, ...outboxRetries, ...outboxRestores, ...outboxCursors],
    fidelity: outboxFidelity,
    ...("gateway" in harness ? {} : GATEWAY),
  };
  const large = { open: () => known.openAt?.(LARGE) ?? known.open() };
  return [...casesOf(topics, facts, known), ...casesOf({ fidelity: outboxLargeSequences }, facts, large)];
}

function claims({ capabilities, transactions }: OutboxHarness<unknown>): OutboxPledge {
  return {
    name: "the outbox says of itself what its harness claims",
    check(bench) {
      for (const outbox of bench.outboxes) {
        const found = { ...outbox.capabilities, transactions: outbox.transactions };
        alike(found, { ...capabilities, transactions }, "what the outbox says");
      }
      return Promise.resolve();
    },
  };
}
