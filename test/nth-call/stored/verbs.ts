/** What a receiver that stores first, its worker and its operator ask a store for. */
export const VERBS: readonly string[] = [
  ...["ingest", "consumers", "refuse", "touch", "flush", "purge", "forgetNames"].map(
    (verb) => `inbox.${verb}`,
  ),
  ...["register", "sequence", "claim", "apply", "extend", "settle", "release", "untilDue"].map(
    (verb) => `worker.${verb}`,
  ),
  ...["roundOf", "beginStep", "keepStep", "readHandlers"].map((verb) => `worker.${verb}`),
  ...["readHandlers", "pauseHandler", "resumeHandler", "deadLetters", "redrive", "stageAgain"].map(
    (verb) => `operator.${verb}`,
  ),
];
