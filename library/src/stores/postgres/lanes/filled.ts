import type { FilledPlace } from "../../../hold-mark.js";
import type { Session, Statement } from "../client/database.js";
import { givenRows, numbers, texts } from "../client/given-rows.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";

const PLACES = givenRows<FilledPlace>({
  tenant: texts(({ tenant }) => tenant),
  source: texts(({ source }) => source),
  key: texts(({ key }) => key),
  generation: numbers("int8", ({ generation }) => generation),
  seq: numbers("int8", ({ sequence }) => sequence),
  after_seq: numbers("int8", ({ after }) => after),
});

/** Writes down that nobody has to wait for these places, except for those that the events of their keys have passed: most repeated ones come again under their old place. */
export function fillPlaces(places: readonly FilledPlace[], tables: Tables): Statement {
  return { text: FILL(tables), params: PLACES.params(places), prepared: true };
}

// In one order, as everyone does: taken in any order, two nodes that fill the same two places wait for each other.
const FILL = sqlFor(
  ({ hold, filled }) => `
    insert into ${filled} (tenant, source, key, generation, seq, after_seq, filled_at)
    select tenant, source, key, generation, seq, after_seq, clock_timestamp() from ${PLACES.table("given")}
    where not exists (
      select from ${hold} as hold
      where hold.tenant = given.tenant and hold.source = given.source and hold.key = given.key
        and (hold.generation, hold.last_seq) >= (given.generation, given.seq)
    )
    order by tenant collate "C", source collate "C", key collate "C", generation, seq
    on conflict do nothing`,
);

/** What the sequencer knows of the filled places of a key. */
export interface JudgedKey extends Pick<FilledPlace, "tenant" | "source" | "key"> {
  readonly filled: readonly PlaceOfKey[];
  readonly passed: readonly PlaceOfKey[];
}

/** A filled place of a key that is known. */
export interface PlaceOfKey extends Pick<FilledPlace, "generation" | "sequence" | "after"> {
  readonly isJudged: boolean;
}

/** Forgets places that nobody asks for any more, and remembers that those that are left were judged. */
export async function forgetPassed(
  session: Session,
  keys: readonly JudgedKey[],
  tables: Tables,
): Promise<void> {
  const passed = keys.flatMap(({ passed: places, ...key }) =>
    places.map((place) => Object.assign({}, key, place)),
  );
  const left = keys.flatMap(({ filled, passed: gone, ...key }) =>
    filled
      .filter((place) => !place.isJudged && !gone.includes(place))
      .map((place) => Object.assign({}, key, place)),
  );
  if (passed.length > 0)
    await session.query({ text: FORGET(tables), params: PLACES.params(passed), prepared: true });
  if (left.length > 0)
    await session.query({ text: JUDGED(tables), params: PLACES.params(left), prepared: true });
}

const OF_GIVEN = `filled.tenant = given.tenant and filled.source = given.source and filled.key = given.key
      and filled.generation = given.generation and filled.seq = given.seq`;

const FORGET = sqlFor(
  ({ filled }) => `delete from ${filled} as filled using ${PLACES.table("given")} where ${OF_GIVEN}`,
);

const JUDGED = sqlFor(
  ({ filled }) => `
    update ${filled} as filled set judged = true from ${PLACES.table("given")} where ${OF_GIVEN}`,
);
