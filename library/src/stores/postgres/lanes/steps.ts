import { reach } from "#faults";
import type { InboxOutcome } from "../../../inbox/inbox-store.js";
import type { InboxRound, StepKey, StepState, StepStore } from "../../../inbox/handler/step-store.js";
import { boolean, columns, number, optional, text } from "../client/columns.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import { sqlFor } from "../schema/tables.js";

interface BegunStep {
  readonly tries: number;
  readonly done: boolean;
  readonly result: string | undefined;
}

const BEGUN = columns<BegunStep>({
  tries: number("known.tries"),
  done: boolean("known.finished_at is not null"),
  result: optional(text("known.result")),
});

const ROUND_VALUES = columns<InboxRound>({
  round: number("round"),
  outcome: text<InboxOutcome>("outcome"),
});

/** Where the steps of long handlers are kept, each by a short transaction of its own. */
export function createSteps({ transactions, tables }: StoreDatabase): StepStore {
  return {
    async roundOf({ tenant, source, id }, consumer) {
      const params = [tenant, source, id, consumer];
      const { rows } = await transactions.read({ text: ROUND(tables), params, prepared: true });
      return rows[0] === undefined ? { round: 1, outcome: undefined } : ROUND_VALUES.read(rows[0]);
    },
    async beginStep(key, storedAs): Promise<StepState> {
      const params = [...keyParams(key), storedAs];
      reach("step.before_begin");
      const { rows } = await transactions.write({ text: BEGIN(tables), params, prepared: true });
      reach("step.after_begin");
      const { tries, done, result } = BEGUN.read(rows[0] ?? []);
      if (done) return { kind: "done", result };
      return { kind: tries === 1 ? "new" : "begun" };
    },
    async keepStep(key, result) {
      const params = [...keyParams(key), result ?? null];
      reach("step.before_keep");
      await transactions.write({ text: KEEP(tables), params, prepared: true });
      reach("step.after_keep");
    },
  };
}

function keyParams({ tenant, source, id, consumer, round, step }: StepKey): string[] {
  return [tenant, source, id, consumer, String(round), step];
}

const ROUND = sqlFor(
  ({ inbox }) => `
    select ${ROUND_VALUES.list} from ${inbox}
    where tenant = $1::text and source = $2::text and event_id = $3::text and consumer = $4::text`,
);

const BEGIN = sqlFor(
  ({ step }) => `
    insert into ${step} as known (tenant, source, event_id, consumer, round, step, stored_as)
    values ($1::text, $2::text, $3::text, $4::text, $5::text::int4, $6::text, $7::text)
    on conflict (tenant, source, event_id, consumer, round, step) do update set tries = known.tries + 1
    returning ${BEGUN.list}`,
);

const KEEP = sqlFor(
  ({ step }) => `
    update ${step} set finished_at = clock_timestamp(), result = $7::text
    where tenant = $1::text and source = $2::text and event_id = $3::text and consumer = $4::text
      and round = $5::text::int4 and step = $6::text and finished_at is null`,
);
