import { utf8 } from "../../bytes.js";
import type { OptionNames } from "../../known-options.js";
import { PosthornError } from "../../posthorn-error.js";
import type { TransactionMode } from "../../store-capabilities.js";
import { checkNames } from "../check-names.js";
import type { ReceivedEvent } from "./handlers.js";
import type { InboxErrorCode } from "../inbox-errors.js";
import type { Handled } from "../inbox-store.js";

/** The version of a resource that an event brings, as its store compares it. */
export interface ResourceVersion {
  /** As the inbox knows the handler: `""` is the one of the receiver, and of a worker's `handlers`. */
  readonly consumer: string;
  readonly tenant: string;
  readonly source: string;
  readonly resource: string;
  /** Of the event that brings it, in its stored form. */
  readonly eventId: string;
  /** Numbers and times are never compared with each other. */
  readonly kind: "number" | "time";
  /** Of 64 bits; a time in milliseconds since 1970. */
  readonly version: bigint;
}

/** What the comparison says. `mixed`: the version that is known is of the other kind. */
export type Compared = "newest" | "stale" | "mixed";

/** Where the newest version of each resource is kept. Each sentence is a case of the conformance kit, in the same words. */
export interface NewestStore<Tx, Mode extends TransactionMode = TransactionMode> {
  /**
   * Compares a version with the newest that is known, and keeps it with its event where it is newer, in the transaction that
   * is handed in: a rollback forgets it. An equal version is stale, unless the same event brought it: a replay of the newest
   * is the newest again. Of two transactions that ask for one resource, the second waits for the
   * end of the first: they are never both the newest. Consumers, tenants, sources and resources have nothing to do with
   * each other, and a number is never compared with a time. Returns without a promise where transactions are synchronous.
   */
  newest(tx: Tx, version: ResourceVersion): Mode extends "synchronous" ? Compared : Promise<Compared>;
}

/** Drops events that bring an older version of their resource than one that was handled, or the same as another event. */
export interface DropStale {
  readonly policy: "drop_stale";
  /** Which resource the event is about: its id. Undefined: of none, and it is handled. */
  // oxlint-disable-next-line typescript/no-explicit-any -- as a handler's event without a schema
  readonly resource: (event: ReceivedEvent<any>) => string | undefined;
  /** Its version: a number or a time that grows. Undefined: it has none, and is handled. */
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  readonly version: (event: ReceivedEvent<any>) => bigint | Date | undefined;
}

/** Whose versions they are, and which event brings them. */
export type VersionScope = Pick<ResourceVersion, "consumer" | "tenant" | "source" | "eventId">;

const MOST_BYTES = 255;
const [LEAST, MOST] = [-(2n ** 63n), 2n ** 63n - 1n];

/** Checks what a handler has handed in. */
export function versionOf(scope: VersionScope, resource: string, version: bigint | Date): ResourceVersion {
  const bytes = typeof resource === "string" ? utf8(resource).length : 0;
  if (bytes === 0 || bytes > MOST_BYTES || resource.includes("\0")) {
    throw invalid(`the resource must be a text of 1 to ${MOST_BYTES} bytes without a NUL; it has ${bytes}`);
  }
  if (version instanceof Date && !Number.isNaN(version.getTime())) {
    return { ...scope, resource, kind: "time", version: BigInt(version.getTime()) };
  }
  if (typeof version === "bigint" && version >= LEAST && version <= MOST) {
    return { ...scope, resource, kind: "number", version };
  }
  const found = typeof version === "bigint" ? "a bigint of more than 64 bits" : `of type ${typeof version}`;
  throw invalid(
    `the version must be a bigint of 64 bits or a valid Date; it is ${found}. For a number, write BigInt(n)`,
  );
}

/** What a handler has asked about its event. */
export class Asked {
  #stale: string | undefined;
  #isNewest = false;

  /** Whether it is the newest. */
  note(compared: Compared, { resource, kind }: Pick<ResourceVersion, "resource" | "kind">): boolean {
    if (compared === "mixed") throw mixed(resource, kind);
    if (compared === "newest") this.#isNewest = true;
    else this.#stale ??= resource;
    return compared === "newest";
  }

  /** What the event came to; a result that the handler returned is kept in either case. */
  handled(result: string | undefined): Handled {
    if (this.#stale === undefined || this.#isNewest) return { outcome: "success", result };
    return { outcome: "dropped", result, because: `not newer than what is known of ${this.#stale}` };
  }
}

const OPTIONS: OptionNames<DropStale> = { policy: true, resource: true, version: true };

/** Throws where the options cannot work; undefined where nothing is dropped. */
export function checkDropStale(given: unknown, store: object): DropStale | undefined {
  if (given === undefined) return undefined;
  // A text too: taken for no order, it would drop nothing, without a word.
  if (typeof given !== "object" || given === null)
    throw option(`it is ${JSON.stringify(given)}; expected { policy: "drop_stale", resource, version }`);
  const { policy, resource, version } = given as Partial<DropStale>;
  if (policy !== "drop_stale") throw option(`policy is ${JSON.stringify(policy)}; expected "drop_stale"`);
  checkNames("order", given, OPTIONS);
  if (typeof resource !== "function" || typeof version !== "function") {
    throw option("resource and version must be functions of the event");
  }
  if (!("newest" in store)) throw option("this store keeps no versions: it has no `newest`");
  return { policy, resource, version };
}

function option(found: string): PosthornError<InboxErrorCode> {
  return new PosthornError("inbox_option_invalid", `order cannot be used: ${found}.`);
}

function invalid(found: string): PosthornError<InboxErrorCode> {
  return new PosthornError("newest_invalid", `newest cannot compare this: ${found}.`);
}

function mixed(resource: string, kind: ResourceVersion["kind"]): PosthornError<InboxErrorCode> {
  const [one, other] = kind === "time" ? ["Date", "bigint"] : ["bigint", "Date"];
  return new PosthornError(
    "newest_invalid",
    `newest was given a ${one} for ${resource}, and knows a ${other}: they cannot be compared. Keep to one of them, or ask ` +
      "under another name of the resource.",
  );
}
