import { appendFileSync } from "node:fs";
import { it } from "vitest";
import { memoryOutboxHarness } from "./memory-harness.js";
import { withOutboxFlaw } from "./outbox-flaws/all.js";
import { checkOutboxModel } from "./outbox-model.js";
const LIST = ["no_fence","epoch_reused","lane_claimed_twice","head_and_next_at_once","retry_lets_the_next_past","rollback_leaves_the_event","sequence_gap","halt_lets_the_lane_go_on","run_while_suspect","run_of_a_tried_head","lapse_spends_a_failure","never_alone","alone_not_told","lapse_alone_ignores_the_policy","redrive_twice","skip_intent_forgotten","skip_intent_outlives_its_head","after_counts_what_was_skipped","counters_kept_by_the_lane","paused_endpoint_claimed","release_keeps_the_lease","ended_lease_is_stale","dead_lane_armed_by_the_next_event","rest_of_a_run_lost","failures_lead_to_alone", "run_never_after_a_lapse", "redrive_at_the_end_keeps_the_round", "alone_in_pairs"] as const;
it("computes", { timeout: 580000 }, async () => {
  let t0 = performance.now();
  await checkOutboxModel(memoryOutboxHarness, 4000);
  appendFileSync("/tmp/model.log", `clean ok ${Math.round(performance.now() - t0)}\n`);
  for (const flaw of LIST) {
    let line = flaw as string;
    for (let n = 0; n < 4; n++) {
      const t = performance.now();
      await withOutboxFlaw(flaw, async (harness) => {
        try { await checkOutboxModel(harness, 1000); line += " MISSED"; } catch { line += " ok"; }
      });
      line += ` ${Math.round(performance.now() - t)}`;
    }
    appendFileSync("/tmp/model.log", `${line}\n`);
  }
});
