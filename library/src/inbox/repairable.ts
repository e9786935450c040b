import type { Event } from "../event.js";
import { PosthornError } from "../posthorn-error.js";
import { Key } from "../signature/keys/key.js";
import type { SignedRequest, Verified, Verifier } from "../signature/scheme.js";
import { namingId } from "./arrival/names.js";
import { shown } from "./check-receiver.js";
import type { InboxErrorCode } from "./inbox-errors.js";
import type { Source } from "./source.js";

/** A delivery of a provider's log: the event's id as its webhook carries it, and how to bring the rest. */
export interface Logged {
  readonly id: string;
  /** When it was sent, at the latest: of an event without a time of its own, this decides whether it is stale. */
  readonly sentAt?: Date;
  load(): Promise<Pick<SignedRequest, "headers" | "body">>;
}

/** What whoever repairs a source has to know of it. */
export interface Repairable {
  readonly tenant: string;
  /** How long an event is remembered after its last receipt; undefined = for ever. */
  readonly windowS: number | undefined;
}

/** The source of a name, where a log can repair it. */
export function repairableSource(sources: ReadonlyMap<string, Source>, name: string): Source {
  const source = sources.get(name);
  if (source === undefined) throw unrepairable("source_unknown", name, "is not configured");
  // A log has the event, but not always its bytes: known by their hash, it would be applied a second time.
  if (source.naming.by === "content")
    throw unrepairable(
      "inbox_option_invalid",
      name,
      "knows its events by their content, and a log knows them by their ids",
    );
  return source;
}

/** Refuses a delivery that does not bring the event which its entry names: by its body's hash, the event would be applied again. */
export function checkNamed(
  { name, naming }: Source,
  named: string,
  events: readonly Pick<Event, "id">[],
): void {
  const ids = events.map(({ id }) => namingId(naming, id));
  if (ids.includes(named) && !ids.includes(undefined)) return;
  const found = ids.map((id) => (id === undefined ? "one without an id" : shown(id)));
  throw new PosthornError<InboxErrorCode>(
    "log_entry_misnamed",
    `The log of "${name}" names the event ${shown(named)}, and its delivery brings ${found.join(", ") || "none"}; expected ` +
      "the event of this id: `load` must return the headers that name it.",
  );
}

const NO_KEY = new Key("sha256", "none", new Uint8Array());

/** A request of a log that carries no signature, or not the bytes that were signed; its caller vouches for it. */
export function unproved(verifier: Verifier, request: SignedRequest): Verified {
  const match = { key: NO_KEY, keyIndex: -1, signature: new Uint8Array() };
  return { verifier, request, key: "none", keyIndex: -1, match, signedAt: undefined, stamp: undefined };
}

function unrepairable(code: InboxErrorCode, source: string, why: string): PosthornError<InboxErrorCode> {
  return new PosthornError(code, `The source "${source}" cannot be repaired: it ${why}.`);
}
