import type { Suite } from "./suite.js";

export interface SuiteEntry {
  readonly summary: string;
  /** Imports only when asked: a suite whose client or build is missing must not keep the others from running. */
  load(): Promise<Suite>;
}

export const suites: Readonly<Record<string, SuiteEntry>> = {
  verify: {
    summary: "signature checks per second against the official libraries and bare node:crypto; bundle size",
    load: async () => (await import("./suites/verify.js")).suite,
  },
  inbox: {
    summary:
      "events per second through dedup and receiver against the common patterns, on Postgres and SQLite",
    load: async () => (await import("./suites/inbox.js")).suite,
  },
  worker: {
    summary:
      "events per second that are stored first, and handled by a worker, one by one, in runs and in batches",
    load: async () => (await import("./suites/worker.js")).suite,
  },
  delivery: {
    summary:
      "events per second from outbox to endpoint against a raw undici loop and other queues; publish, claim, light load",
    load: async () => (await import("./suites/delivery.js")).suite,
  },
  server: {
    summary:
      "signed requests per second through posthorn serve against a bare Fastify route; to the endpoint",
    load: async () => (await import("./suites/server.js")).suite,
  },
  "slow-sockets": {
    summary: "how long requests to posthorn serve take beside thousands of slow sockets",
    load: async () => (await import("./suites/slow-sockets.js")).suite,
  },
};

export function listSuites(entries: Readonly<Record<string, SuiteEntry>>): string {
  const names = Object.keys(entries);
  const width = Math.max(...names.map((name) => name.length));
  const lines = names.map((name) => `  ${name.padEnd(width)}  ${entries[name]?.summary ?? ""}`);
  return ["npm run bench -- <suite> [--quick] [--json FILE]", "", "Suites:", ...lines, ""].join("\n");
}
