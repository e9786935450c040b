import { APPLYING } from "./applying.js";
import type { StoreMutant, SuiteName } from "./mutant.js";
import { POSTGRES_INBOX } from "./postgres-inbox.js";
import { POSTGRES_OUTBOX } from "./postgres-outbox.js";
import { SQLITE } from "./sqlite.js";

/** Every planted bug of a real store. */
export const STORE_MUTANTS: readonly StoreMutant[] = [
  ...SQLITE,
  ...POSTGRES_INBOX,
  ...POSTGRES_OUTBOX,
  ...APPLYING,
];

/** A case of the conformance kit. */
export interface Control {
  readonly suite: Exclude<SuiteName, "targeted">;
  readonly case: string;
}

interface Feature extends Control {
  /** The files of it, and where these are of several features, what catches its bugs. */
  readonly bugs: RegExp;
}

/**
 * What stays green though a bug is planted in a feature, by what the feature is for: a bug that breaks all of it proves nothing
 * about the case that finds it. The first that has a bug counts.
 */
export const FEATURES: readonly Feature[] = [
  of(/dedup\//, "dedup", "an id that one process recorded is a duplicate in every other"),
  of(/inbox\/newest/, "outbox", "versions of 64 bits are compared exactly"),
  of(/inbox\/touch/, "inbox", "a duplicate that was noted is counted as a receipt, at most once a minute"),
  of(
    /inbox\/records.*: purge/,
    "inbox",
    "purge removes rows whose window has passed, and their events are new again",
  ),
  of(/inbox\/records/, "inbox", "a failure is recorded with its attempt's number"),
  of(/inbox\/|client\//, "inbox", "an event is applied and known as a success"),
  of(
    /lanes\/(apply|enter-run|settle-run)/,
    "outbox",
    "an apply commits what its handlers wrote, in order, together with the lane's next state",
  ),
  of(/lanes\/extend/, "outbox", "an extended lease keeps its epoch, and its settlement counts"),
  of(
    /lanes\/(hold|until-due)/,
    "outbox",
    "an event is held until the one before it in the sequence of its key has come",
  ),
  of(/lanes\/pause/, "outbox", "a pause ends by itself, and what waited goes on in order"),
  of(
    /lanes\/(places|stage)/,
    "outbox",
    "every endpoint that matches gets a delivery of its own, and no endpoint of another tenant does",
  ),
  of(/lanes\/record-ended/, "outbox", "a dead letter says what died, where, why and after how many attempts"),
  of(/lanes\/settle/, "outbox", "settle returns the lane's next head, leased under the next epoch"),
  of(/operator\/redrive/, "outbox", "a dead letter without a lane is redriven in a new round"),
  of(/operator\/retry/, "outbox", "retry keeps the failures and attempts of what it makes due"),
  of(
    /operator\/cancel/,
    "outbox",
    "what waits in a lane is cancelled up to a sequence: the lane goes on behind it, and the gap is told on the wire",
  ),
  of(/operator\/set-aside/, "outbox", "an event that cannot be sequenced is set aside, and stops no other"),
  of(
    /outbox\/(endpoints|turn)/,
    "outbox",
    "a change returns the endpoint as it is now, with the next version",
  ),
  of(/outbox\/remove-endpoint/, "outbox", "what waits for an endpoint that is removed is cancelled"),
  of(/outbox\//, "outbox", "events written into a transaction of the host are there when it commits"),
  of(
    /retention\/remove-/,
    "outbox",
    "an event that is older than its window goes, with its attempts and its lane; a younger one stays",
  ),
  of(/lanes\//, "outbox", "a claim holds everything that an attempt needs"),
];

function of(bugs: RegExp, suite: Control["suite"], name: string): Feature {
  return { bugs, suite, case: name };
}

/** The case of a bug's feature that stays green. */
export function controlOf({ name, file, caughtBy }: StoreMutant): Control {
  const found = FEATURES.find(({ bugs }) => bugs.test(`${file}: ${caughtBy.case}`));
  if (found === undefined) throw new Error(`${name}: ${file} is of no feature that has a control`);
  return { suite: found.suite, case: found.case };
}
