import type { Claim, ClaimedDelivery } from "../../library/src/lanes/lane-store.js";
import type { Who } from "../world/who.js";

/** Who has a lane, as far as the answers of the database tell. */
export interface Holder extends Who {
  readonly worker: string;
  readonly epoch: bigint;
  readonly grantedAt: number;
  readonly endsAt: number;
  readonly run: readonly ClaimedDelivery[];
}

/** A lane as an observer knows it who has read every answer of its database, and never the database itself. */
export class LaneView {
  readonly database: number;
  readonly kind: Claim["kind"];
  readonly id: bigint;
  readonly name: string;
  endpoint = "";
  key: string | undefined;
  epoch = 0n;
  holder: Holder | undefined;
  /** The first sequence that is neither acknowledged nor passed over; undefined until the first claim or skip. */
  head: bigint | undefined;
  /** Of the head; undefined until it is claimed. */
  round: number | undefined;
  attempts = 0;
  failures = 0;
  lapses = 0;
  notBefore = 0;
  suspectUntil = 0n;
  /** A skip was answered with "intended", and nothing has come of it yet. */
  intended = false;
  /** Its head is dead, and the lane waits for an operator. */
  standsStill = false;
  lastAcknowledged: bigint | undefined;
  readonly passed: Set<bigint> = new Set();
  readonly acknowledged: Set<bigint> = new Set();
  readonly firstReceipts: Set<bigint> = new Set();
  latestReceipt = -1n;

  constructor(database: number, { kind, id }: Pick<Claim, "kind" | "id">) {
    this.database = database;
    this.kind = kind;
    this.id = id;
    this.name = `${kind} ${id} of database ${database}`;
  }

  acknowledge(sequence: bigint): void {
    this.acknowledged.add(sequence);
    this.lastAcknowledged = sequence;
    this.moveTo(sequence + 1n);
  }

  /** The head will not be delivered, and that is on record. */
  passHead(): void {
    if (this.head === undefined) return;
    this.passed.add(this.head);
    this.moveTo(this.head + 1n);
  }

  moveTo(head: bigint): void {
    this.head = head;
    this.round = undefined;
    this.startAgain();
  }

  startAgain(): void {
    this.attempts = 0;
    this.failures = 0;
    this.lapses = 0;
    this.notBefore = 0;
    this.intended = false;
    this.standsStill = false;
  }
}
