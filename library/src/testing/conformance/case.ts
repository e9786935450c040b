import type { StoreCapabilities } from "../../store-capabilities.js";

/** What a case is about. */
export type Topic =
  | "contract"
  | "concurrency"
  | "transactions"
  | "retention"
  | "fidelity"
  | "endpoints"
  | "order"
  | "claims"
  | "settling"
  | "runs"
  | "lapses"
  | "dead letters"
  | "operators"
  | "ingest"
  | "handlers"
  | "lookups";

/** One promise of a port, ready to be checked by any test runner. */
export interface Case {
  /** The promise, in the words of the port. */
  readonly name: string;
  readonly topic: Topic;
  /** Why this store need not keep it; undefined = it must. List declined cases as skipped, with this reason. */
  readonly declined: string | undefined;
  /** Rejects, saying what was found and what was promised, unless the store keeps the promise. */
  readonly run: () => Promise<void>;
}

/** How time passes for a store under test. */
export interface BenchTime {
  /** A time that the store can tell apart, in seconds: an hour where the clock is fake, about one where it is real. */
  readonly tickS: number;
  /** Lets time pass: turns a fake clock, moves the rows into the past, or really waits. */
  pass(ms: number): Promise<void>;
}

/** What a case may need that not every store has. */
export type Need =
  | "sharesHostTransaction"
  | "multiProcess"
  | "exactTime"
  | "awaitingHandlers"
  | "manyWriters"
  | "manyConnections"
  | "refusedListing"
  | "handlerStatements"
  | "saturation"
  | "lostAnswers"
  | "cancelledListing"
  | "unplaceable"
  | "largeSequences";

/** What the store under test has of that; what is not named, it has not. */
export type Facts = Readonly<Partial<Record<Need, boolean>>>;

const DECLINED: Readonly<Record<Need, string>> = {
  sharesHostTransaction: "the store does not claim to share the host's transaction",
  multiProcess: "the store does not claim to serve several processes",
  exactTime: "the store's clock cannot be turned to the very millisecond",
  awaitingHandlers: "handlers of this store cannot await inside the transaction",
  manyWriters: "the database has one writer at a time, whatever it writes",
  manyConnections: "the database has one connection, which transactions use one after the other",
  refusedListing: "the harness cannot list refused events",
  handlerStatements: "transactions of this store have no statements by which a handler could end them",
  saturation: "the harness cannot take all of the store's connections",
  lostAnswers: "the harness cannot lose the answer to a commit",
  cancelledListing: "the harness cannot list cancelled deliveries",
  unplaceable: "the harness cannot make an event that cannot be sequenced",
  largeSequences: "the harness cannot open an outbox whose sequences begin high",
};

/** A promise before it meets a store. */
export interface Pledge<Bench> {
  readonly name: string;
  readonly needs?: readonly Need[];
  check(bench: Bench): Promise<void>;
}

/** Opens something fresh for each case, and closes it afterwards. */
export interface BenchMaker<Bench extends { close(): Promise<void> }> {
  open(): Promise<Bench>;
}

export function needsOf(
  capabilities: StoreCapabilities,
): Pick<Facts, "sharesHostTransaction" | "multiProcess"> {
  const { sharesHostTransaction, multiProcess } = capabilities;
  return { sharesHostTransaction, multiProcess };
}

/** Binds promises to the store that is to keep them. */
export function casesOf<Bench extends { close(): Promise<void> }>(
  topics: Readonly<Partial<Record<Topic, readonly Pledge<Bench>[]>>>,
  facts: Facts,
  maker: BenchMaker<Bench>,
): Case[] {
  return Object.entries(topics).flatMap(([topic, pledges]) =>
    pledges.map((pledge) => {
      const missing = pledge.needs?.find((need) => facts[need] !== true);
      return {
        name: pledge.name,
        topic: topic as Topic,
        declined: missing === undefined ? undefined : DECLINED[missing],
        run: () => withBench(maker, (bench) => pledge.check(bench)),
      };
    }),
  );
}

async function withBench<Bench extends { close(): Promise<void> }>(
  maker: BenchMaker<Bench>,
  check: (bench: Bench) => Promise<void>,
): Promise<void> {
  const bench = await maker.open();
  try {
    await check(bench);
  } finally {
    await bench.close();
  }
}
