import { judgedCopy, replaceMethod } from "./judged-methods.js";
import type { Judge } from "./orm-client.js";
import { compiledText } from "./orm-query.js";

/** What a Kysely instance sends its statements by. A transaction has one of its own. */
export interface KyselyExecutor {
  readonly adapter?: object;
}

type UseConnection = (connection: object) => unknown;

const JUDGED = { senders: { executeQuery: compiledText, streamQuery: compiledText } };

// Those that `trx.withSchema()` and the like make of it: unjudged, any of them would let a commit pass.
const DERIVING = [
  "withPlugin",
  "withPlugins",
  "withPluginAtFront",
  "withoutPlugins",
  "withConnectionProvider",
];

/**
 * Judges what an executor sends, and what those send that are derived from it. Every statement of Kysely asks it for the
 * connection: of builders, of `sql`, compiled ones and streams.
 */
export function judgeExecutor(executor: KyselyExecutor, judge: Judge): KyselyExecutor {
  const judged = (use: unknown) => (connection: object) =>
    (use as UseConnection)(judgedCopy(connection, judge, JUDGED));
  replaceMethod(executor, "provideConnection", (own) => (use) => own(judged(use)));
  for (const name of DERIVING.filter((each) => each in executor)) {
    replaceMethod(
      executor,
      name,
      (own) =>
        (...args) =>
          judgeExecutor(own(...args) as KyselyExecutor, judge),
    );
  }
  return executor;
}
