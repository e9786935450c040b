import { matcherOf } from "../../../pattern.js";
import { UNCLAIMED } from "../../../outbox/fan-out.js";
import { textArray } from "../client/column-arrays.js";
import { bigint, columns, number, optional, text } from "../client/columns.js";
import type { Column } from "../client/columns.js";
import type { Session } from "../client/database.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";

// Few enough for the others that wait for the stage: what was set aside for years is looked at in one step after another.
const LOOKED_AT_ONCE = 5000;
// Where nothing is found, a step reads more of them: what is stored meanwhile from these sources waits for the last.
const MOST_PAGES = 4;

// What was set aside because no handler named its source comes before what was stored later. So it is staged under its old
// number, from the lowest number on, and what is staged with a higher number and comes from these sources waits meanwhile.

/** As the row of the configuration has it; of both, neither is there where nothing is to be staged. */
export interface ProgressValues {
  readonly unclaimedAfter: bigint | undefined;
  readonly unclaimedSources: string | undefined;
}

/** Its columns, for whoever selects from that row. */
export const PROGRESS: { readonly [Name in keyof ProgressValues]: Column<ProgressValues[Name]> } = {
  unclaimedAfter: optional(bigint("unclaimed_after")),
  unclaimedSources: optional(text("unclaimed_sources")),
};

/** How far it is, and from which sources it takes. */
export interface Progress {
  readonly after: bigint;
  readonly sources: readonly string[];
}

/** Undefined where there is nothing to be staged. */
export function progressOf({ unclaimedAfter, unclaimedSources }: ProgressValues): Progress | undefined {
  if (unclaimedAfter === undefined || unclaimedSources === undefined) return undefined;
  return { after: unclaimedAfter, sources: JSON.parse(unclaimedSources) as string[] };
}

/** Whether something is still to be staged. */
export function isStagingSql({ outboxConfig }: Tables): string {
  return `exists (select from ${outboxConfig} where one and unclaimed_after is not null)`;
}

/** Lets what was set aside be staged, from the first on, where it comes from these sources; under the lock of the stage. */
export async function beginStaging(
  session: Session,
  gained: readonly string[],
  tables: Tables,
): Promise<void> {
  const { rows } = await session.query({
    text: `select ${UNFINISHED.list} from ${tables.outboxConfig} where one`,
    params: [],
  });
  const unfinished = rows[0] && progressOf(UNFINISHED.read(rows[0]));
  const sources = [...new Set([...(unfinished?.sources ?? []), ...gained])];
  await write(session, { after: 0n, sources }, tables);
}

const UNFINISHED = columns<ProgressValues>(PROGRESS);

async function write(
  session: Session,
  progress: Progress | undefined,
  { outboxConfig }: Tables,
): Promise<void> {
  await session.query({
    text: `update ${outboxConfig} set unclaimed_after = $1::text::int8, unclaimed_sources = $2::text where one`,
    params: [
      progress === undefined ? null : String(progress.after),
      progress === undefined ? null : JSON.stringify(progress.sources),
    ],
    prepared: true,
  });
}

interface PageValues {
  readonly count: number;
  readonly last: bigint | undefined;
  readonly sources: string;
}

const PAGE = columns<PageValues>({
  count: number("(select count(*) from page)"),
  last: optional(bigint("(select max(id) from page)")),
  sources: text("(select coalesce(json_agg(distinct source), '[]') from named)::text"),
});

/** Stages the next of what was set aside; under the lock of the stage. */
export async function stageUnclaimed(session: Session, from: Progress, tables: Tables): Promise<void> {
  let progress: Progress | undefined = from;
  for (let pages = 0; progress !== undefined && pages < MOST_PAGES; pages++) {
    const { next, isFound } = await stagePage(session, progress, tables);
    progress = next;
    if (isFound) break;
  }
  await write(session, progress, tables);
}

/** Says how far it is then, and whether any of the page comes from the sources. */
async function stagePage(
  session: Session,
  { after, sources }: Progress,
  tables: Tables,
): Promise<{ readonly next: Progress | undefined; readonly isFound: boolean }> {
  const looked = [String(after), UNCLAIMED];
  const params = [...looked, String(LOOKED_AT_ONCE)];
  const { rows } = await session.query({ text: LOOK(tables), params, prepared: true });
  const { count, last = after, sources: found } = PAGE.read(rows[0] ?? []);
  const matching = (JSON.parse(found) as string[]).filter(matcherOf(sources));
  const isFound = matching.length > 0;
  if (isFound) {
    const moved = [...looked, String(last), textArray(matching)];
    await session.query({ text: MOVE(tables), params: moved, prepared: true });
  }
  return { next: count < LOOKED_AT_ONCE ? undefined : { after: last, sources }, isFound };
}

// What was set aside for another reason is passed over here, and not in the page: a page would have to look for others.
const LOOK = sqlFor(
  ({ stageDead, event }) => `
    with page as materialized (
      select id, event_id, error from ${stageDead} as aside
      where resolved_at is null and id > $1::text::int8 order by id limit $3::text::int8
    ), named as materialized (
      select published.source from page cross join lateral (
        select source from ${event} as event where event.id = page.event_id limit 1
      ) as published where page.error = $2::text
    )
    select ${PAGE.list}`,
);

const MOVE = sqlFor(
  ({ stage, stageDead, event }) => `
    with unclaimed as (
      delete from ${stageDead} as aside
      where resolved_at is null and id > $1::text::int8 and id <= $3::text::int8 and error = $2::text and exists (
        select from ${event} as event where event.id = aside.event_id and source = any ($4::text[])
      )
      returning tenant, id, event_id, target_consumer_id, round, after_consumer_id
    )
    insert into ${stage} (tenant, id, event_id, target_consumer_id, round, after_consumer_id)
    overriding system value select * from unclaimed`,
);

/** What is staged, and may have to wait for what was set aside before it. */
interface Waiting {
  readonly id: bigint;
  readonly target: bigint | undefined;
  readonly source: string | undefined;
  readonly isStored: boolean;
}

/** Says which of what is staged has to wait; undefined where nothing has. */
export function waitsBy(progress: Progress | undefined): ((staged: Waiting) => boolean) | undefined {
  if (progress === undefined) return undefined;
  const { after, sources } = progress;
  const matches = matcherOf(sources);
  return ({ id, target, source = "", isStored }) =>
    isStored && target === undefined && id > after && matches(source);
}
