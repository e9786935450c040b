// The rows of spec/states.md, by their own words, and the commands of the model that meet them. A test keeps both true: no
// row of the page is missing here, and random histories meet each row by exactly these commands.

/** Where the model may be when it meets a row. */
export type CommandName =
  | "publish"
  | "claim"
  | "die"
  | "claimSome"
  | "claimAlone"
  | "settle"
  | "pass"
  | "pause"
  | "resume"
  | "remove"
  | "add"
  | "release"
  | "skip"
  | "cancel"
  | "retry"
  | "redrive";

const CLAIMS = ["claim", "die"] as const;

export const COVERED = {
  // A delivery: `from | by`.
  "– | the event is sequenced, and the endpoint matches it": ["publish"],
  "due | the endpoint acknowledges it (2xx)": ["settle"],
  "due | the attempt is refused, unreachable or unknown, and the retry policy allows another one": ["settle"],
  "due, later | an operator retries it, its lane or its endpoint, and it has failed and nobody has it": [
    "retry",
  ],
  "due | the endpoint answers 410": ["settle"],
  "due | the last attempt that the retry policy allows fails": ["settle"],
  "due | the endpoint answers 413, 414 or 431": ["settle"],
  "due | the endpoint's address may not be called": ["settle"],
  "due | no signed request can be made of it": ["settle"],
  "due | its lease ends without a settlement": [...CLAIMS, "cancel", "skip"],
  "due | its lease ends without a settlement for the fourth time in a row; the fourth time it ran alone":
    CLAIMS,
  "due | `expiresAt` has passed when a worker would send it": ["settle"],
  "due | an operator skips it": [...CLAIMS, "release", "settle", "skip"],
  "due | an operator cancels it, with all that waits before it in its lane": ["cancel"],
  "due | its endpoint is removed": ["remove"],
  "dead | an operator redrives it, and its lane has waited for it": ["redrive"],
  "dead | an operator redrives it, and its lane has gone on": ["redrive"],
  "dead | an operator redrives it, and it has no lane": ["redrive"],
  "dead | it is the head of its lane, and an operator skips it": ["skip"],
  "dead | it is the head of its lane, and an operator cancels what waits in the lane": ["cancel"],
  "dead | its endpoint is removed": ["remove"],
  // A lane: `state`. Every command is followed by a look at all lanes, which need not say by which it was met.
  empty: [],
  flowing: [],
  halted: [],
  parked: [],
  // An operator skips a head: `the head`.
  "waits, due now or later": ["skip"],
  "is dead": ["skip"],
  "is leased": ["skip"],
  "was leased, and the lease has ended": ["skip"],
  // An endpoint: `from | by`.
  "active, disabled | an operator pauses it": ["pause"],
  "active, paused | it answers 410": ["settle"],
  "paused, disabled | an operator resumes it": ["resume"],
  "active, paused, disabled | an operator removes it": ["remove"],
} as const satisfies Readonly<Record<string, readonly CommandName[]>>;

/** Rows that no command can meet, by the tests that do: the memory store holds an event and its deliveries as one. */
export const ELSEWHERE: Readonly<
  Record<string, readonly { readonly file: string; readonly test: string }[]>
> = {
  "due | somebody has deleted its event from the database, and a worker would send it": [
    {
      file: "test/postgres/sequencing.test.ts",
      test: "a delivery whose event was deleted by hand is dead, loudly, and no other waits for it",
    },
    {
      file: "test/sqlite/outbox.test.ts",
      test: "gives up the delivery whose event is gone, loudly, and no other",
    },
  ],
  "due | its handler throws, and a rule for errors says that this is never tried again": [
    {
      file: "library/src/inbox/worker/worker-errors.test.ts",
      test: "gives an event up at once, and its dead letter says that a rule did",
    },
  ],
  "due | its handler throws, and a rule for errors pauses the consumer for a time": [
    {
      file: "library/src/inbox/worker/worker-errors.test.ts",
      test: "pauses the consumer: nothing of it runs meanwhile, nothing is spent, and other consumers go on",
    },
  ],
  "cancelled (`skipped`, `cancelled`) | it is a handler's, and an operator redrives it": [
    {
      file: "library/src/testing/conformance/outbox/workers/inbox-views.ts",
      test: "what was passed over at a handler while it waited is redriven at the end of its lane, once; at an endpoint it is not",
    },
  ],
  "due | its handler is removed": [
    {
      file: "library/src/testing/conformance/outbox/workers/removing.ts",
      test: "each delivery of a handler that is removed is recorded as cancelled",
    },
  ],
  "due | its handler asks for the event again": [
    {
      file: "library/src/inbox/worker/worker-errors.test.ts",
      test: "lets the event wait at the head of its lane, without a slot and uncounted, and undoes what was written",
    },
  ],
};

export type Row = keyof typeof COVERED;

/** Which rows were met, and by which commands. */
export type Met = Map<Row, Set<string>>;

/** The rows of the page, as they are named above. */
export function rowsOf(page: string): readonly string[] {
  const lines = page.split("\n").filter((line) => line.startsWith("|") && !line.startsWith("|---"));
  let columns: readonly string[] = [];
  return lines.flatMap((line) => {
    const cells = line
      .slice(1, -1)
      .split(" | ")
      .map((cell) => cell.trim());
    if (["from", "state", "the head"].includes(cells[0] ?? "")) {
      columns = cells;
      return [];
    }
    return [columns[0] === "from" ? cells.slice(0, 2).join(" | ") : (cells[0] ?? "")];
  });
}
