import type { Planted } from "./mutant.js";

/** Bugs that only show when a call to the store fails: the suite that fails every one of them must find them. */
export const NTH_CALLS: readonly Planted[] = [
  {
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
    name: "a given id is not kept",
    file: "stores/sqlite/outbox/write.ts",
    edits: [{ find: "if (event.idGiven) keepId(turn.client, event);", replace: "" }],
  },
];
