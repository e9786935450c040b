import type { Planted } from "./mutant.js";

/** The scenarios of test/nth-call. */
export type ScenarioName = "endpoints" | "workers on sqlite" | "workers on memory";

/** A bug that a scenario must find by failing every call to its stores. */
export interface NthCallMutant extends Planted {
  readonly scenario: ScenarioName;
}

/** Bugs that only show when a call to the store fails: the suite that fails every one of them must find them. */
export const NTH_CALLS: readonly NthCallMutant[] = [
  {
    scenario: "endpoints",
    name: "an event is acknowledged before its commit",
    file: "inbox/applier.ts",
    edits: [
      {
        find: "return await store.accept(arrival, noting(work, came), limits);",
        replace:
          'void store.accept(arrival, noting(work, came), limits).catch(() => undefined);\n      return { kind: "applied", attempt: 1 };',
      },
    ],
  },
  {
    scenario: "endpoints",
    name: "a settlement counts whoever has the lease",
    file: "stores/sqlite/lanes/settle.ts",
    edits: [
      {
        find: "!isCurrent(row.lane, claim)",
        replace: "row.lane.head !== claim.run[0].sequence",
      },
    ],
  },
  {
    scenario: "endpoints",
    name: "a given id is not kept",
    file: "stores/sqlite/outbox/write.ts",
    edits: [{ find: "if (event.idGiven) keepId(turn.client, event);", replace: "" }],
  },
  {
    scenario: "workers on sqlite",
    name: "a lost answer of an apply counts as applied",
    file: "inbox/worker/handler-runs.ts",
    edits: [
      {
        find: "return { ...result(claim), settlement, lost: true };",
        replace: "return { ...result(claim), settlement: { ...settlement, acknowledged: 1 }, lost: true };",
      },
    ],
  },
  {
    scenario: "workers on memory",
    name: "a replay that is asked for again is made again",
    file: "operator/replay-store.ts",
    edits: [
      { find: "if (round !== undefined && round !== row.round) return", replace: "if (round === 0) return" },
    ],
  },
  {
    scenario: "workers on sqlite",
    name: "a step that was begun is called new",
    file: "stores/sqlite/lanes/steps.ts",
    edits: [{ find: 'kind: tries === 1 ? "new" : "begun"', replace: 'kind: "new"' }],
  },
  {
    scenario: "workers on sqlite",
    name: "a silent store keeps the lease of a long handler",
    file: "inbox/worker/handler-runs.ts",
    edits: [{ find: "(answered.signal.aborted ? undefined : letGo())", replace: "undefined" }],
  },
];
