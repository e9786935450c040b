import { storedId } from "../../inbox/stored-id.js";
import type { DedupPledge } from "./dedup-harness.js";
import { adapterOf, learn } from "./dedup-harness.js";
import { same } from "./expectation.js";
import { ODD_IDS, TWIN_IDS } from "./odd-ids.js";

const LONG_S = 14 * 24 * 3600;

export const dedupFidelity: readonly DedupPledge[] = [
  {
    name: "ids that differ in anything at all are different ids",
    async check(bench) {
      for (const [n, [one, other]] of TWIN_IDS.entries()) {
        // Several twins begin alike; a number before each pair keeps the pairs apart.
        same(await learn(adapterOf(bench, 0), `${n}${one}`, LONG_S), "first", `${shown(one)} of pair ${n}`);
        same(await learn(adapterOf(bench, 0), `${n}${other}`, LONG_S), "first", `${shown(other)} of pair ${n}`);
        same(await learn(adapterOf(bench, 1), `${n}${other}`, LONG_S), "duplicate", `${shown(other)} again`);
      }
    },
  },
  {
    name: "an id of any characters is remembered as it is",
    async check(bench) {
      for (const id of ODD_IDS) same(await learn(adapterOf(bench, 0), id, LONG_S), "first", shown(id));
      for (const id of ODD_IDS) same(await learn(adapterOf(bench, 1), id, LONG_S), "duplicate", shown(id));
    },
  },
  {
    name: "an id that looks like the stored form of another is not the other",
    async check(bench) {
      const odd = "evt\0";
      same(await learn(adapterOf(bench, 0), odd, LONG_S), "first", shown(odd));
      const { id } = await storedId(odd);
      same(await learn(adapterOf(bench, 0), id, LONG_S), "first", shown(id));
    },
  },
];

function shown(id: string): string {
  const text = JSON.stringify(id);
  return text.length > 60 ? `${text.slice(0, 40)}… (${id.length} characters)` : text;
}
