import { claiming, claimingAlone, claimingSome, dying } from "./claiming.js";
import { compared } from "./comparing.js";
import { ENDPOINT_NAMES } from "./model.js";
import type { Command } from "./model.js";
import { passing, releasing, removing, retrying, skipping } from "./operating.js";
import type { Retrying } from "./operating.js";
import { settling } from "./settling.js";
import type { Doing } from "./settling.js";

// A few commands that belong together: left to chance, hardly a history would see what takes them all.

/** A worker dies of what it has under way until that runs alone, and once more then. */
export function poisoning(worker: string, last: "claim" | "die"): Command {
  const fourth = last === "claim" ? claiming(worker, 3) : dying(worker, 1);
  const dyings = Array.from({ length: 3 }, () => dying(worker, 1));
  return scene(`poison(${worker}, ${last})`, [
    ...dyings,
    claiming(worker, 1),
    claimingAlone(worker),
    passing(3),
    fourth,
  ]);
}

export type Regret = "claim" | "die" | "release" | "settle" | "nothing";

/** An operator skips what a worker has just claimed, and the worker does not succeed. */
export function regretting(worker: string, at: number, then: Regret): Command {
  const failed: Doing = { acknowledged: 0, finding: "gone", policy: "halt", next: true };
  const ends: Readonly<Record<Regret, readonly Command[]>> = {
    claim: [passing(3), claiming(worker, 3)],
    die: [passing(3), dying(worker, 3)],
    release: [releasing(worker, false)],
    settle: [settling(at, failed)],
    nothing: [passing(3), skipping(at, 0)],
  };
  const skips = then === "nothing" ? [] : [0, 1, 2].map((lane) => skipping(lane, 0));
  return scene(`regret(${worker}, ${at}, ${then})`, [claiming(worker, 3), ...skips, ...ends[then]]);
}

/** Something fails, and an operator will not wait for its next attempt. */
export function insisting(worker: string, at: number, what: Retrying): Command {
  const failed: Doing = { acknowledged: 0, finding: "retry", policy: "halt", next: false };
  const retries = [0, 1, 2].map((lane) => retrying(lane, what));
  return scene(`insist(${worker}, ${at}, ${what})`, [claiming(worker, 1), settling(at, failed), ...retries]);
}

/** Something dies, and its endpoint is removed. */
export function burying(worker: string, at: number, policy: Doing["policy"]): Command {
  const died: Doing = { acknowledged: 0, finding: "exhausted", policy, next: false };
  const removals = ENDPOINT_NAMES.map((id) => removing(id));
  const removal = removals[at % removals.length] ?? removing("ep_key");
  return scene(`bury(${worker}, ${at}, ${policy})`, [
    claimingSome(worker, 2),
    settling(0, died),
    settling(1, died),
    removal,
  ]);
}

/** Each only where it makes sense then, and each followed by a look at the outbox. */
function scene(text: string, commands: readonly Command[]): Command {
  return {
    check: () => true,
    toString: () => text,
    run: async (model, bench) => {
      for (const each of commands.map(compared)) if (each.check(model)) await each.run(model, bench);
    },
  };
}
