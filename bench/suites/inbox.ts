import type { Plan, Suite } from "../suite.js";
import { busyPoolCases, busyRatios } from "./inbox/busy-pool-cases.js";
import { DEDUP, dedupCases, dedupRatios } from "./inbox/dedup-cases.js";
import { openBench } from "./inbox/durable-postgres.js";
import { RECEIVER, receiverCases, receiverRatios } from "./inbox/receiver-cases.js";
import { SQLITE, sqliteCases, sqliteRatios } from "./inbox/sqlite-cases.js";
import { SIZE, sizeRatios, tableSizeCases } from "./inbox/table-size-cases.js";

// Many short rounds: a neighbour's burst then spoils a few of them whole, and the median passes over these.
const full: Plan = { rounds: 21, turnMs: 700, warmupMs: 4000 };

/** Without what fills millions of rows, or waits for a handler of 10 s. */
const quick: Plan = {
  rounds: 5,
  turnMs: 200,
  warmupMs: 400,
  cases: [
    DEDUP.ours64,
    DEDUP.ours1000,
    DEDUP.common,
    DEDUP.rawLocked,
    RECEIVER.accept,
    RECEIVER.receive,
    RECEIVER.duplicates,
    RECEIVER.common,
    SQLITE.ours,
    SQLITE.raw,
    SIZE.empty,
    SIZE.modest,
  ],
};

export const suite: Suite = {
  plans: { full, quick },
  ratios: [...dedupRatios, ...receiverRatios, ...sqliteRatios, ...sizeRatios, ...busyRatios],
  limits: [],
  unavailable() {
    const resolved = import.meta.resolve("posthorn/postgres");
    if (resolved.includes("/dist/")) return undefined;
    return `posthorn/postgres is ${resolved}; what is measured is the built package, so run npm run build`;
  },
  async cases(context) {
    const bench = await openBench(context);
    return [
      ...(await dedupCases(bench)),
      ...(await receiverCases(context, bench)),
      ...(await sqliteCases(context)),
      ...tableSizeCases(context, bench),
      ...(await busyPoolCases(bench)),
    ];
  },
};
