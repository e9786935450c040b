// The architecture as data. A rule changes here, in one row, and ARCHITECTURE.md says why.

export const libraryRoot = "library/src/";
export const serverRoot = "server/src/";
export const dashboardRoot = "dashboard/src/";
/** The one door of the library that the dashboard may open: whatever else it needs, every client of the API would need. */
export const dashboardDoor = "posthorn/client";
/** What turns text into a page or a program. Payloads come from strangers. */
export const htmlSinks: ReadonlySet<string> = new Set([
  "dangerouslySetInnerHTML",
  "innerHTML",
  "outerHTML",
  "insertAdjacentHTML",
  "setHTMLUnsafe",
  "createContextualFragment",
  "parseFromString",
  "srcdoc",
  "write",
  "writeln",
  "eval",
  "Function",
]);
export const simulatorRoot = "simulator/";
export const modelRoot = "simulator/model/";
export const lawsRoot = "simulator/laws/";

/** The decisions that the laws of the simulator judge, and what of each file a law may use all the same. */
export const lawConstants: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["library/src/lanes/lane.ts", new Set(["LAPSES_BEFORE_ALONE"])],
  ["library/src/lanes/lane-rule.ts", new Set()],
  ["library/src/delivery/transition.ts", new Set<string>()],
]);

/** Who may import whom. A folder may always import itself and the leaves; a folder without a row may not exist. */
export interface ImportRow {
  /** A folder of library/src; `*` stands for one folder name. */
  readonly from: string;
  /** Folders, or single files without their extension. */
  readonly may: readonly string[];
  /** As `may`, but by `import type` only. */
  readonly mayType?: readonly string[];
}

export const importTable: readonly ImportRow[] = [
  { from: "signature", may: [] },
  { from: "work", may: [] },
  { from: "lanes", may: ["work"] },
  { from: "inbox", may: ["signature", "work", "lanes"] },
  // Of `signature`, what reads a secret and what hashes a body.
  {
    from: "outbox",
    may: [
      "signature/keys/secret",
      "signature/crypto/crypto-node",
      "signature/crypto/crypto-web",
      "work",
      "lanes",
    ],
  },
  { from: "delivery", may: ["signature", "work", "lanes", "outbox/endpoint"] },
  // It reads by the one guarded way out, and hands what it read to a receiver.
  { from: "repair", may: ["work", "inbox/unobserved"], mayType: ["inbox", "delivery/egress/egress"] },
  { from: "operator", may: [], mayType: ["inbox", "outbox", "lanes", "delivery", "retention", "repair"] },
  { from: "retention", may: ["work"] },
  { from: "client", may: [] },
  // The ports and the pure functions beside them; never the store of another database.
  { from: "stores/*", may: ["inbox", "outbox", "lanes", "work", "operator", "retention", "repair"] },
  { from: "frameworks", may: ["inbox"] },
  {
    from: "testing",
    may: [
      "signature",
      "work",
      "inbox",
      "outbox",
      "lanes",
      "delivery",
      "operator",
      "retention",
      "repair",
      "client",
      "frameworks",
    ],
  },
];

/** The joined table of error codes: a leaf that looks into the modules, so only doors may look at it. */
export const joinedErrorTable = "errors.ts";
export const moduleErrorTable = /(^|\/)[a-z-]+-errors\.ts$/;

/** Files and folders (ending in a slash) that may use `node:` imports and Node's globals. */
export const nodeBound: readonly string[] = [
  "signature/crypto/crypto-node.ts",
  "signature/crypto/hmac-node.ts",
  "delivery/egress/create-egress.ts",
  "delivery/egress/address-guard.ts",
  "delivery/egress/dial.ts",
  "delivery/egress/resolver.ts",
  "delivery/egress/hosts-file.ts",
  "delivery/egress/unasked-continue.ts",
  // It writes messages of the driver `pg`, which takes bytes as Buffers.
  "stores/postgres/client/pg-round-trip.ts",
  // Decodes with Node's Buffer where there is one.
  "stores/postgres/client/bytea.ts",
  "frameworks/node.ts",
  "frameworks/node-body.ts",
  "frameworks/hang-up.ts",
  "frameworks/express.ts",
  "frameworks/fastify.ts",
  "frameworks/nest.ts",
  "frameworks/nest-handlers.ts",
  "frameworks/nest-parsers.ts",
  "frameworks/nest-request.ts",
  "testing/",
];

/** The Node side of an alias like `#crypto`: other files reach it through the alias, which has a side for the edge. */
export const nodeSide = /-node\.ts$/;

/** Packages that are optional peers, and the files that may import them. */
export const peerImports: ReadonlyMap<string, readonly string[]> = new Map([
  ["undici", ["delivery/egress/create-egress.ts"]],
  ["@nestjs/common", ["frameworks/nest.ts"]],
  ["@nestjs/core", ["frameworks/nest.ts", "frameworks/nest-handlers.ts"]],
]);

export const nodeGlobals: ReadonlySet<string> = new Set([
  "Buffer",
  "process",
  "require",
  "__dirname",
  "__filename",
]);

/** Ways out of the process that bypass the address guard, and the only folder that may take one. */
export const egressGlobals: ReadonlySet<string> = new Set([
  "fetch",
  "XMLHttpRequest",
  "WebSocket",
  "EventSource",
]);
export const egressAllowed: readonly string[] = ["client/"];

/** What sets flags of V8 at run time. No file of library and server may name it. */
export const engineFlags = "setFlagsFromString";

/** Names that say what a file is made of instead of what it does. */
export const emptyNames: ReadonlySet<string> = new Set(
  "utils util helpers helper common shared lib core types interfaces misc".split(" "),
);
export const emptySuffix = /(service|repository|manager|factory|[-_.]utils?|[-_.]helpers?)$/i;
export const namedFolders: readonly string[] = [
  "library/src/",
  "simulator/",
  "server/src/",
  "dashboard/src/",
  "test/",
  "bench/",
  "scripts/",
  "examples/",
];

export const budgets = {
  fileLines: { hard: 400, median: 120 },
  functionLines: { hard: 60, median: 10 },
  parameters: 4,
} as const;
export const budgetExempt = /\.test\.ts$|(^|\/)migrations\.ts$|\.generated\.ts$/;
