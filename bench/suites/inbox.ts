import type { Suite } from "../suite.js";
import { dedupCases, dedupRatios } from "./inbox/dedup-cases.js";
import { receiverCases, receiverRatios } from "./inbox/receiver-cases.js";
import { openBench } from "./inbox/durable-postgres.js";

export const suite: Suite = {
  plans: {
    full: { rounds: 9, turnMs: 2000, warmupMs: 1000 },
    quick: { rounds: 5, turnMs: 400, warmupMs: 400 },
  },
  ratios: [...dedupRatios, ...receiverRatios],
  limits: [],
  async cases(context) {
    const bench = await openBench(context);
    return [...(await dedupCases(bench)), ...(await receiverCases(bench))];
  },
};
