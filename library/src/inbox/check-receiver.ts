import { checkStore } from "../given-store.js";
import { unknownOption } from "../known-options.js";
import { PosthornError } from "../posthorn-error.js";
import { isPattern, noPattern } from "./handler/handlers.js";
import type { InboxErrorCode } from "./inbox-errors.js";

type Named = Readonly<Record<string, unknown>>;

/** The names of the options of each mode. */
export interface KnownOptions<InRequest extends object = object, StoreFirst extends object = object> {
  readonly inRequest: InRequest;
  readonly storeFirst: StoreFirst;
}

/** What a compiler refuses, for hosts that have none: each of these would lose its events without a word. */
export function checkReceiver(options: object, known: KnownOptions): void {
  const { mode, store, sources, handlers } = options as Named;
  if (mode !== undefined && mode !== "store_first")
    throw invalid(
      `mode is ${shown(mode)}; expected "store_first", or none: handlers then run in the request`,
    );
  checkStore("receiver", store, "find");
  if (typeof sources !== "object" || sources === null)
    throw invalid("sources is missing; expected one or more by name: { stripe: stripe({ secrets }) }");
  if (mode === "store_first" && handlers !== undefined)
    throw invalid(
      'a receiver of mode "store_first" runs no handlers; give them to createWorker({ store, handlers })',
    );
  checkNames(options as Named, mode === "store_first", known);
}

function checkNames(options: Named, isStoreFirst: boolean, { inRequest, storeFirst }: KnownOptions): void {
  const ofWorker = Object.keys(options).find(
    (name) => isStoreFirst && options[name] !== undefined && !(name in storeFirst) && name in inRequest,
  );
  const found =
    ofWorker === undefined
      ? unknownOption("the receiver", options, isStoreFirst ? storeFirst : inRequest)
      : `"${ofWorker}" is no option of a receiver of mode "store_first"; give it to createWorker({ store, handlers, ${ofWorker} }).`;
  if (found !== undefined) throw new PosthornError<InboxErrorCode>("inbox_option_invalid", found);
}

/** A handler that is undefined, as after a typo in an import, or one of a source that is not there, would skip its events for ever. */
export function checkHandlers(given: unknown, sources: ReadonlySet<string>, schemas: object = {}): Named {
  if (typeof given !== "object" || given === null) {
    throw invalid(
      'handlers is missing; expected functions by event type: { "invoice.paid": async (event, { tx }) => { … } }',
    );
  }
  for (const [key, handler] of Object.entries(given)) {
    if (typeof handler !== "function") {
      throw invalid(
        `the handler of ${shown(key)} is of type ${typeof handler}; expected a function; its import may be misspelt`,
      );
    }
    if (isPattern(key)) throw invalid(noPattern(key));
    const colon = key.indexOf(":");
    if (colon === -1 || sources.has(key.slice(0, colon)) || Object.hasOwn(schemas, key)) continue;
    const [first = "stripe"] = sources;
    throw invalid(
      `the handler of ${shown(key)} is for a source ${shown(key.slice(0, colon))}, and the sources are ` +
        `${[...sources].map(shown).join(", ")}. For a type that has a colon itself, write ${shown(`${first}:${key}`)}`,
    );
  }
  return given as Named;
}

/** A timer of NaN, or of more than it can hold, ends at once: what waits by it would spin, or be given up before it began. */
export function duration(name: string, ms: number, longestMs: number): number {
  if (Number.isFinite(ms) && ms > 0 && ms <= longestMs) return ms;
  throw new PosthornError<InboxErrorCode>(
    "inbox_option_invalid",
    `${name} is ${String(ms)}; expected milliseconds above 0, up to ${longestMs}.`,
  );
}

export function positive(name: string, value: number | undefined, fallback: number): number {
  const chosen = value ?? fallback;
  if (Number.isFinite(chosen) && chosen > 0) return chosen;
  throw new PosthornError<InboxErrorCode>(
    "inbox_option_invalid",
    `${name} is ${chosen}; expected a number above 0.`,
  );
}

/** What may have come from a stranger's URL, or from an option. */
export function shown(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 80) ?? typeof value;
}

function invalid(found: string): PosthornError<InboxErrorCode> {
  return new PosthornError("inbox_option_invalid", `The receiver cannot be made: ${found}.`);
}
