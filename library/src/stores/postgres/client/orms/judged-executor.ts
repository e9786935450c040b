import { transactionCommand } from "../../../../transaction-command.js";
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

/** The connection that an executor has, where it keeps one for its transaction. */
export async function connectionOf(executor: KyselyExecutor): Promise<object | undefined> {
  let connection: object | undefined;
  const take = (lent: object): Promise<void> => {
    connection = lent;
    return Promise.resolve();
  };
  await (executor as { provideConnection(use: UseConnection): Promise<unknown> }).provideConnection(take);
  return connection;
}

/**
 * Judges what a connection sends for as long as a transaction has it: for transactions whose executors are made anew where
 * nothing can judge them. The ORM's own end of the transaction is the last statement of it: then the pool gets the connection
 * back as it was.
 */
export function judgeConnection(connection: object, judge: Judge): void {
  const undo = Object.entries(JUDGED.senders).map(([name, textIn]) =>
    replaceMethod(connection, name, (own) => (...args) => {
      const text = textIn(args[0]);
      judge(text);
      if (transactionCommand(text) !== undefined) undo.forEach((each) => each());
      return own(...args);
    }),
  );
}
