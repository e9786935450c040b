import type { ErrorDetail } from "./posthorn-error.js";

/**
 * Everything that Posthorn reports about itself. Logs, metrics and traces are all fed from this one
 * union, so that they cannot disagree. No signal carries a secret or a payload.
 */
export type Signal =
  | {
      /** A request proved that it comes from its source. `key` names the secret that matched. */
      readonly kind: "signature_accepted";
      readonly scheme: string;
      readonly key: string;
      readonly keyIndex: number;
    }
  | {
      /** A request was refused. `diagnosis` says how to mend it, when forensics was asked. */
      readonly kind: "signature_refused";
      readonly scheme: string;
      readonly code: string;
      readonly message: string;
      readonly detail: ErrorDetail;
      readonly diagnosis: readonly string[];
    }
  | {
      /** A secret is accepted because its provider made it, though it is shorter than it should be. */
      readonly kind: "secret_weak";
      readonly scheme: string;
      readonly key: string;
      readonly bytes: number;
    };

/** Receives signals, synchronously and in order. */
export type Observer = (signal: Signal) => void;

/** Tells the observer. An observer that throws must never cost an event, so its error ends here, on the console. */
export function notify(observer: Observer | undefined, signal: Signal): void {
  try {
    observer?.(signal);
  } catch (error) {
    // oxlint-disable-next-line no-console -- the observer was the way to report, and it is what failed
    console.error(`posthorn: the observer threw on "${signal.kind}"`, error);
  }
}
