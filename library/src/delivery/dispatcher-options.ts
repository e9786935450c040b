import { systemClock } from "../clock.js";
import type { Clock } from "../clock.js";
import { unknownOption } from "../known-options.js";
import type { OptionNames } from "../known-options.js";
import type { Observer } from "../observer.js";
import { checkStore } from "../given-store.js";
import { PosthornError } from "../posthorn-error.js";
import type { DeliveryErrorCode } from "./delivery-errors.js";
import type { DeliveryStore } from "./delivery-store.js";
import type { AddressGuard } from "./egress/address-guard.js";
import type { Egress } from "./egress/egress.js";

/** What a dispatcher is made of. */
export interface DispatcherOptions {
  readonly store: DeliveryStore;
  /** How many attempts are under way at once. @default 128 */
  readonly slots?: number;
  /** Deadline of a whole attempt. @default 15,000 */
  readonly deadlineMs?: number;
  /** How long a claim is held before another process may take it; more than `deadlineMs` + 5,000. @default 30,000 */
  readonly leaseMs?: number;
  /** How often to look for work that no hint announced. @default 250 */
  readonly pollMs?: number;
  /**
   * Says where may be sent, best shared with the sender: what one accepts, the other does. @default public addresses, by https
   *
   * @example
   * const guard = createAddressGuard({ allowAddresses: ["10.1.0.0/16"] });
   */
  readonly guard?: AddressGuard;
  /** An egress of your own in place of the guarded one. For tests. */
  readonly egress?: Egress;
  readonly clock?: Clock;
  readonly observer?: Observer;
}

/** The options, checked and complete. */
export interface DispatcherSettings {
  readonly slots: number;
  readonly deadlineMs: number;
  readonly leaseMs: number;
  readonly marginMs: number;
  readonly pollMs: number;
  readonly clock: Clock;
  readonly observer: Observer | undefined;
  readonly random: () => number;
}

const OPTIONS: OptionNames<DispatcherOptions> = {
  store: true,
  slots: true,
  deadlineMs: true,
  leaseMs: true,
  pollMs: true,
  guard: true,
  egress: true,
  clock: true,
  observer: true,
};

// Time from the end of an attempt to its settlement: a slow commit must not let another process send a delivered event.
const MARGIN_MS = 5000;

export function checkDispatcher(options: DispatcherOptions): DispatcherSettings {
  const { slots = 128, deadlineMs = 15_000, leaseMs = 30_000, pollMs = 250 } = options;
  checkStore("dispatcher", options.store, "claim");
  const unknown = unknownOption("the dispatcher", options, OPTIONS);
  if (unknown !== undefined) throw new PosthornError<DeliveryErrorCode>("dispatcher_option_invalid", unknown);
  atLeastOne({ slots, deadlineMs, leaseMs, pollMs });
  if (leaseMs <= deadlineMs + MARGIN_MS) {
    throw invalid(
      `leaseMs is ${leaseMs}; expected more than deadlineMs + ${MARGIN_MS}, which is ${deadlineMs + MARGIN_MS}: ` +
        "an attempt could outlive its lease, and be made by two",
    );
  }
  return Object.freeze({
    slots,
    deadlineMs,
    leaseMs,
    marginMs: MARGIN_MS,
    pollMs,
    clock: options.clock ?? systemClock,
    observer: options.observer,
    random: Math.random,
  });
}

function atLeastOne(values: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(values)) {
    if (!(Number.isInteger(value) && value >= 1 && value <= 2 ** 31 - 1)) {
      throw invalid(`${name} is ${String(value)}; expected a whole number of at least 1`);
    }
  }
}

function invalid(found: string): PosthornError<DeliveryErrorCode> {
  return new PosthornError("dispatcher_option_invalid", `The dispatcher cannot be made: ${found}.`);
}
