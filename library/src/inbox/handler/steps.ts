import type { Clock } from "../../clock.js";
import { PosthornError } from "../../posthorn-error.js";
import type { StopSignal } from "../../stop-signal.js";
import type { InboxErrorCode } from "../inbox-errors.js";
import { plainJson } from "./result.js";
import type { StepKey, StepStore } from "./step-store.js";

/** A step of a long handler. Both functions get the step's idempotency key. */
export interface Step<T> {
  /**
   * Asked where a former run began the step and its result is not known: what it came to at the other side; undefined where
   * nothing came of it. Without it the step is done again, with the same idempotency key.
   */
  readonly check?: (idempotencyKey: string) => T | undefined | Promise<T | undefined>;
  /** Does it. */
  readonly act: (idempotencyKey: string) => T | Promise<T>;
}

/** Does steps that are not to be done again when their handler runs again. */
export interface Stepping {
  /**
   * Does a step once: its result, small plain JSON, is kept right after it, and returned when the handler runs again. Names of
   * steps are the handler's own; the same name is the same step.
   */
  readonly once: <T>(step: string, doing: Step<T>) => Promise<T>;
}

interface StepsParts {
  readonly store: Pick<StepStore, "beginStep" | "keepStep">;
  readonly clock: Clock;
  readonly key: Omit<StepKey, "step">;
  readonly storedAs: string;
  readonly signal: StopSignal;
  readonly idempotencyKey: (step: string) => string;
}

const LONGEST_NAME = 200;
// What was done is worth more than one try to write it down.
const KEEP_AGAIN_MS = [100, 1000, 5000];

/** The steps of one run of a long handler. */
export class Steps {
  readonly #parts: StepsParts;
  readonly #known = new Map<string, Promise<unknown>>();

  constructor(parts: StepsParts) {
    this.#parts = parts;
  }

  async once<T>(step: string, doing: Step<T>): Promise<T> {
    checkStep(step, doing);
    // Two calls at once would each find that the other has begun.
    const known = this.#known.get(step);
    if (known !== undefined) return (await known) as T;
    const begun = this.#once(step, doing);
    this.#known.set(step, begun);
    // A handler that catches the error may try again.
    begun.catch(() => this.#known.delete(step));
    return (await begun) as T;
  }

  async #once<T>(step: string, { check, act }: Step<T>): Promise<unknown> {
    const { store, key, storedAs, signal, idempotencyKey } = this.#parts;
    const name = { ...key, step };
    if (signal.aborted) throw signal.reason;
    const before = await store.beginStep(name, storedAs);
    if (before.kind === "done") return parsed(before.result);
    // From here on an abort changes nothing: what the other side has done is to be kept.
    const own = idempotencyKey(step);
    const found = before.kind === "begun" ? await check?.(own) : undefined;
    const result = encoded(step, found === undefined ? await act(own) : found);
    await this.#keep(name, result);
    return parsed(result);
  }

  async #keep(key: StepKey, result: string | undefined): Promise<void> {
    const { store, clock } = this.#parts;
    for (const waitMs of KEEP_AGAIN_MS) {
      try {
        await store.keepStep(key, result);
        return;
      } catch {
        await clock.sleep(waitMs);
      }
    }
    await store.keepStep(key, result);
  }
}

/** The name of a step; without one, all steps of an event would have the same idempotency key. */
export function checkedStep(step: string): string {
  if (typeof step === "string") return step;
  throw invalid(`The step's name is of type ${typeof step}; expected a text, as in once("charge", …)`);
}

/** Before anything is noted of it: a step that is known to have begun, and never can, is looked for at the other side. */
function checkStep(step: string, doing: unknown): void {
  const { length } = checkedStep(step);
  if (length === 0 || length > LONGEST_NAME || step.includes("\0"))
    throw invalid(`The step's name has ${length} characters; expected 1 to ${LONGEST_NAME}, and no NUL`);
  const name = JSON.stringify(step);
  if (typeof doing !== "object" || doing === null)
    throw invalid(`The step ${name} is of type ${typeof doing}; expected { act: (key) => … }`);
  const { check, act } = doing as { readonly check?: unknown; readonly act?: unknown };
  if (typeof act !== "function")
    throw invalid(`act of the step ${name} is of type ${typeof act}; expected a function`);
  if (check !== undefined && typeof check !== "function")
    throw invalid(`check of the step ${name} is of type ${typeof check}; expected a function, or none`);
}

function invalid(found: string): PosthornError<InboxErrorCode> {
  return new PosthornError("inbox_option_invalid", `${found}.`);
}

function encoded(step: string, result: unknown): string | undefined {
  if (result === undefined) return undefined;
  const encoding = plainJson(result);
  if ("text" in encoding) return encoding.text;
  throw new PosthornError<InboxErrorCode>(
    "step_result_invalid",
    `The step ${JSON.stringify(step)} was done, and its result cannot be kept: ${encoding.why}. Return the few fields that are ` +
      "needed later, as plain JSON, and give the step a `check` that finds them.",
  );
}

/** As a later run gets it: a date is a text by then. */
function parsed(result: string | undefined): unknown {
  return result === undefined ? undefined : (JSON.parse(result) as unknown);
}
