import { storedId } from "../../../inbox/arrival/stored-id.js";
import type { DedupBench, DedupPledge } from "./harness.js";
import { learn } from "./harness.js";
import { same, shortly } from "../expectation.js";
import { LOOKALIKE_IDS, ODD_IDS } from "../odd-ids.js";

export const dedupFidelity: readonly DedupPledge[] = [
  {
    name: "ids that differ in anything at all are different ids",
    check: (bench) => eachFirstThenDuplicate(bench, LOOKALIKE_IDS),
  },
  {
    name: "an id of any characters is remembered as it is",
    check: (bench) => eachFirstThenDuplicate(bench, ODD_IDS),
  },
  {
    name: "an id that looks like the stored form of another is not the other",
    async check(bench) {
      await eachFirstThenDuplicate(bench, ["evt\0", (await storedId("evt\0")).id]);
    },
  },
];

async function eachFirstThenDuplicate(bench: DedupBench, ids: readonly string[]): Promise<void> {
  for (const id of ids) same(await learn(bench, id), "first", shortly(id));
  for (const id of ids) same(await learn(bench, id, { at: 1 }), "duplicate", shortly(id));
}
