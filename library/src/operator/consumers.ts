import { PosthornError } from "../posthorn-error.js";
import type { WorkerStore } from "../inbox/worker/worker-store.js";
import { handlerId } from "../consumer-name.js";
import type { OptionNames } from "../known-options.js";
import { checkNames, checkPause, checkRemoval } from "./check-asked.js";
import { WORKER_GONE_MS } from "../worker-gone.js";
import type { ConsumerStanding, InboxViewStore } from "./inbox-view-store.js";
import type { OperatorErrorCode } from "./operator-errors.js";
import type { Reason } from "./reason.js";

/** What a store has to do to pause a handler. */
export type PausingStore = Pick<
  WorkerStore<unknown>,
  "pauseHandler" | "resumeHandler" | "removeHandler" | "readHandlers"
> &
  Pick<InboxViewStore, "consumers">;

/** How a person pauses a handler. */
export interface ConsumerPause {
  /** When it ends by itself; undefined: when somebody resumes the handler. */
  readonly forMs?: number | undefined;
  /** Why, for whoever finds it paused. */
  readonly because: string;
  /** Who pauses it. @default `by` of the operator */
  readonly by?: string | undefined;
}

/** How a person removes a handler. */
export interface ConsumerRemoval {
  /** Why, for whoever looks for it later. */
  readonly because: string;
  /** Who removes it. @default `by` of the operator */
  readonly by?: string | undefined;
  /** True: what waits for it is cancelled, and its dead letters are resolved. @default false */
  readonly cancelWaiting?: boolean | undefined;
}

/** What became of a handler that was to be removed. */
export type RemovedConsumer =
  /** `waiting` deliveries stood in its lanes, the dead heads included: they are cancelled, a step at a time. */
  | { readonly kind: "removed"; readonly waiting: number; readonly exact: boolean }
  | { readonly kind: "unknown" };

/** How a person stops the handlers of workers, where the store has handlers. A handler is named as it is anywhere: `billing`, or `hnd_billing`. */
export interface Consumers {
  /**
   * Pauses a handler: nothing of it is claimed, what waits stays in order, and what is being handled ends. Of two pauses the one that
   * ends later stays. `kept`: it stays as it was, because another pause ends later, or because it is disabled.
   */
  pause(id: string, pause: ConsumerPause): Promise<"paused" | "kept" | "unknown">;
  /** Ends the pause of a handler, whoever or whatever has paused it; `active` where there was none to end. */
  resume(id: string, reason?: Reason): Promise<"resumed" | "active" | "unknown">;
  /**
   * Removes a handler that was renamed or deleted in your code: it gets nothing more. What it has applied stays in the inbox. Throws
   * `consumer_in_use` while a worker has it: that would register it again. Throws `consumer_not_empty` while deliveries wait for it, or dead
   * letters of it are unresolved: nobody would ever handle them. With `cancelWaiting: true` the former are cancelled, and the latter resolved.
   *
   * @example
   * await operator.remove("billing", { because: "it is called invoicing now" });
   */
  remove(id: string, removal: ConsumerRemoval): Promise<RemovedConsumer>;
}

/** A year: a database would refuse a time that is too far away. */
export const LONGEST_PAUSE_MS = 31_536_000_000;

const PAUSE: OptionNames<ConsumerPause> = { forMs: true, because: true, by: true };
const REMOVAL: OptionNames<ConsumerRemoval> = { because: true, by: true, cancelWaiting: true };

/** The verbs for the handlers of a store, and who pauses or removes one where nobody is named. */
export function consumersOf(store: PausingStore, operator: string): Consumers {
  const read = async (id: string) => (await store.readHandlers([id]))[0];
  return {
    async pause(named, given) {
      // Callers without types may leave it out, and are told of the reason that is missing.
      checkNames("pause", given ?? {}, PAUSE);
      checkPause(given);
      const { by = operator, ...pause } = given;
      refuseOdd(pause.forMs);
      const id = handlerId(named);
      const before = await read(id);
      if (!(await store.pauseHandler(id, { ...pause, by }))) return "unknown";
      return (await read(id))?.version === before?.version ? "kept" : "paused";
    },
    async resume(named) {
      const id = handlerId(named);
      if (await store.resumeHandler(id)) return "resumed";
      return (await read(id)) === undefined ? "unknown" : "active";
    },
    async remove(named, removal) {
      checkNames("remove", removal ?? {}, REMOVAL);
      checkRemoval(removal);
      const { because, by = operator, cancelWaiting = false } = removal;
      const id = handlerId(named);
      const standing = (await store.consumers()).find((each) => each.id === id);
      // What is placed after this look is not the handler's in any case: a moment later it would have been placed without it.
      if (standing !== undefined && !cancelWaiting) refuseUnlessEmpty(standing);
      const removed = await store.removeHandler(id, { because, by, unseenForMs: WORKER_GONE_MS });
      if (removed === "seen") throw inUse(id, standing?.seenAt);
      if (removed === "unknown") return { kind: "unknown" };
      return { kind: "removed", waiting: standing?.waiting ?? 0, exact: standing?.exact ?? true };
    },
  };
}

/** A pause for no time, or for less, would end before anybody sees it. */
function refuseOdd(forMs: number | undefined): void {
  if (forMs === undefined || (forMs > 0 && forMs <= LONGEST_PAUSE_MS)) return;
  throw new PosthornError<OperatorErrorCode>(
    "number_invalid",
    `\`forMs\` is ${forMs}; expected milliseconds above 0, up to a year. Leave it out for a pause that lasts until somebody resumes the handler.`,
    { detail: { field: "forMs" } },
  );
}

/** Nobody would handle what waits there: a redrive of what was cancelled finds no handler. */
function refuseUnlessEmpty({ id, waiting, exact, dead }: ConsumerStanding): void {
  if (waiting === 0 && dead === 0) return;
  throw new PosthornError<OperatorErrorCode>(
    "consumer_not_empty",
    `The handler ${id} is not empty: deliveries that wait for it: ${waiting}${exact ? "" : " or more"}; dead letters that nobody has resolved: ${dead}. Nobody would ever handle them. Run a worker with its handlers until nothing waits, and redrive its dead letters; then its workers stop. Or say \`cancelWaiting: true\`, to cancel what waits.`,
    { detail: { waiting, dead } },
  );
}

function inUse(id: string, seenAt: Date | undefined): PosthornError<OperatorErrorCode> {
  const said = seenAt === undefined ? "" : ` It last said so at ${seenAt.toISOString()}.`;
  return new PosthornError(
    "consumer_in_use",
    `A worker has the handler ${id}, and would register it again.${said} Expected none for ${WORKER_GONE_MS / 60_000} minutes: stop its workers, or deploy the version without it first.`,
  );
}
