import { environmentHere } from "../../../environment.js";
import { notify } from "../../../observer.js";
import type { Observer } from "../../../observer.js";

/** What the memory stores need to know to warn. */
export interface NotDurable {
  readonly store: string;
  readonly environment: string | undefined;
  readonly observer: Observer | undefined;
}

/**
 * Warns once per store made in production: after a restart every event is new again, and a second process
 * knows nothing of the first, so that both apply the same event.
 */
export function warnInProduction({ store, environment = environmentHere(), observer }: NotDurable): void {
  if (environment !== "production") return;
  if (observer !== undefined) return notify(observer, { kind: "store_not_durable", store });
  // oxlint-disable-next-line no-console -- without an observer there is no other way to warn
  console.warn(
    `posthorn: ${store} is used in production. It forgets every event when the process ends and is not shared ` +
      "between processes; use posthorn/postgres or posthorn/sqlite.",
  );
}
