import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Lane } from "posthorn/client";
import { api } from "../../api/api.ts";
import { Filters, filtersIn } from "../../parts/filters.tsx";
import { FreshRows, ListFoot, useList } from "../../parts/list.tsx";
import { Empty, FailureNotice, Page, PageHead } from "../../parts/page.tsx";
import { laneHref, shellWord, walk } from "../../place/links.ts";
import { count } from "../../words/format.ts";
import { needsPerson } from "../../words/words.ts";
import { LaneTable } from "./lane-table.tsx";

const FILTERS = ["endpoint"] as const;

/** Lanes in which something waits, those that are blocked first. */
export function Lanes(): JSX.Element {
  const filter = filtersIn(FILTERS);
  const asked = new URLSearchParams(filter).toString();
  const list = useList(
    `lanes?${asked}`,
    (page) => api.lanes.list({ ...filter, ...page }),
    ({ id }) => id,
  );
  useEffect(() => {
    walk.value = list.rows.map(({ id }) => laneHref(id));
  }, [list.rows]);
  const flags = Object.entries(filter).map(([name, value]) => ` --${name} ${shellWord(value)}`);
  return (
    <Page title="Lanes" cli={[`posthorn lanes list${flags.join("")}`]} get={[`/lanes?${asked}`]}>
      <PageHead title="Lanes" lede={ledeOf(list.rows)} />
      <Filters names={FILTERS} filter={filter} />
      {list.live.failure !== undefined && <FailureNotice failure={list.live.failure} />}
      <section class="panel" aria-label="Lanes" {...list.hold}>
        <FreshRows of={list} />
        {list.rows.length > 0 && <LaneTable lanes={list.rows} />}
        {list.rows.length === 0 && list.live.data !== undefined && (
          <Empty icon="lanes" title="Nothing waits in any lane">
            A lane is one endpoint and one key. It is listed here as long as something waits in it, is
            retried, or blocks it.
          </Empty>
        )}
        {list.rows.length > 0 && <ListFoot of={list} noun="lane" />}
      </section>
    </Page>
  );
}

function ledeOf(lanes: readonly Lane[]): string {
  const halted = lanes.filter((lane) => needsPerson(lane));
  if (halted.length === 0)
    return "One endpoint and one key each: the events in a lane land one after the other. None waits for you.";
  const behind = halted.reduce((sum, { depth }) => sum + BigInt(depth) - 1n, 0n);
  return `${count(halted.length, "lane")} ${halted.length === 1 ? "waits" : "wait"} for you; ${count(behind, "event")} behind ${halted.length === 1 ? "it" : "them"} ${behind === 1n ? "waits" : "wait"} too, so that none overtakes another.`;
}
