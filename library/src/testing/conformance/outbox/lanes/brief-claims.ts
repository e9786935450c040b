import { alike, holds, same } from "../../expectation.js";
import type { OutboxPledge } from "../harness.js";
import { acknowledge, addEndpoint, claim, claimOne, heads, outboxOf, publish } from "../steps.js";

/** What `claim` promises where `brief` is asked for. */
export const outboxBriefClaims: readonly OutboxPledge[] = [
  {
    name: "a brief claim gets loose deliveries and lanes that hold at most eight, and nothing else",
    async check(bench) {
      for (const id of ["ep_a", "ep_b"]) await addEndpoint(bench, { id, types: [id] });
      const nine = Array.from({ length: 9 }, (_, n) => `n${n}`);
      const eight = Array.from({ length: 8 }, (_, n) => `e${n}`);
      await publish(bench, nine, { key: "nine", type: "ep_a" });
      await publish(bench, eight, { key: "eight", type: "ep_a" });
      await publish(bench, ["b"], { key: "k", type: "ep_b" });
      await publish(bench, ["loose"], { key: undefined, type: "ep_b" });
      const brief = async (what: string, expected: string): Promise<void> => {
        const { claims } = await claim(bench, { brief: true });
        same(heads(claims).split(" ").toSorted().join(" "), expected, what);
      };
      await brief("a brief claim", "b e0 loose");
      same(heads([await claimOne(bench)]), "n0", "what a claim of everything finds");
      await outboxOf(bench).release("worker_1", []);
      await publish(bench, ["e8"], { key: "eight", type: "ep_a" });
      await brief("a brief claim after one lane has grown", "b loose");
      await outboxOf(bench).release("worker_1", []);
      const all = (await claim(bench)).claims;
      const long = all.find((each) => heads([each]) === "n0");
      holds(long !== undefined, "The lane of nine was not claimed");
      await acknowledge(bench, long);
      await outboxOf(bench).release("worker_1", []);
      await brief("a brief claim after another has become shorter", "b loose n1");
    },
  },
  {
    name: "brief claims serve endpoints in turn, past any whose lanes are longer",
    async check(bench) {
      const endpoints = ["ep_1", "ep_2", "ep_3"];
      for (const id of [...endpoints, "ep_long"]) await addEndpoint(bench, { id, types: [id] });
      const nine = Array.from({ length: 9 }, (_, n) => `n${n}`);
      await publish(bench, nine, { key: "nine", type: "ep_long" });
      for (const type of endpoints) {
        for (let n = 0; n < 3; n++) await publish(bench, [`${type}_${n}`], { key: `k${n}`, type });
      }
      for (let turn = 0; turn < 3; turn++) {
        const served: string[] = [];
        for (let n = 0; n < endpoints.length; n++) {
          served.push((await claimOne(bench, { limit: 1, brief: true })).consumer.id);
        }
        alike(served.toSorted(), endpoints, `who is served in turn ${turn + 1}`);
      }
    },
  },
];
