import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Lane } from "posthorn/client";
import { api } from "../api.ts";
import { count, duration, grouped, oneLine } from "../format.ts";
import { endpointHref, laneHref, shellWord, walk } from "../links.ts";
import { place } from "../location.ts";
import { behindOf, MiniLane } from "../parts/lane-drawing.tsx";
import { Chip, FreshRows, ListFoot, useList } from "../parts/list.tsx";
import { Empty, FailureNotice, Page, PageHead } from "../parts/page.tsx";
import { State } from "../parts/state.tsx";
import { laneLook, needsPerson } from "../words.ts";

/** Lanes in which something waits, those that are blocked first. */
export function Lanes(): JSX.Element {
  const endpoint = place.value.query.get("endpoint") ?? undefined;
  const list = useList(
    `lanes?${endpoint ?? ""}`,
    (page) => api.lanes.list({ endpoint, ...page }),
    ({ id }) => id,
  );
  useEffect(() => {
    walk.value = list.rows.map(({ id }) => laneHref(id));
  }, [list.rows]);
  const flag = endpoint === undefined ? "" : ` --endpoint ${shellWord(endpoint)}`;
  return (
    <Page title="Lanes" cli={[`posthorn lanes list${flag}`]}>
      <PageHead title="Lanes" lede={ledeOf(list.rows)} />
      {endpoint !== undefined && (
        <div class="toolbar">
          <Chip name="endpoint" value={endpoint} />
        </div>
      )}
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

export function LaneTable({ lanes }: { readonly lanes: readonly Lane[] }): JSX.Element {
  return (
    <div class="table-wrap">
      <table class="table">
        <thead>
          <tr>
            <th>Lane</th>
            <th>State</th>
            <th class="hide-s">In order</th>
            <th class="num">Waiting</th>
            <th class="num hide-s">Failures</th>
            <th class="num hide-s">Blocked for</th>
          </tr>
        </thead>
        <tbody>
          {lanes.map((lane) => (
            <LaneRow lane={lane} key={lane.id} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A lane by what it leads to. */
export function laneName({ endpointId, key }: Pick<Lane, "endpointId" | "key">): string {
  return key === "" ? oneLine(endpointId, 40) : `${oneLine(endpointId, 40)} · ${oneLine(key, 40)}`;
}

function LaneRow({ lane }: { readonly lane: Lane }): JSX.Element {
  const { id, endpointId, key, state, depth, failures, blockedMs, dueInMs } = lane;
  const due = dueInMs !== null && dueInMs > 0 ? `, again in ${duration(dueInMs)}` : "";
  return (
    <tr data-row class="tall">
      <td>
        <a class="main-cell cut" href={laneHref(id)} data-open>
          {key === "" ? "without a key" : oneLine(key, 48)}
        </a>
        <span class="sub">
          <a href={endpointHref(endpointId)}>{oneLine(endpointId, 40)}</a> · lane {id}
        </span>
      </td>
      <td>
        <State look={laneLook(state)}>
          {laneLook(state).word}
          {state === "retrying" ? due : ""}
        </State>
      </td>
      <td class="hide-s">
        <a href={laneHref(id)} tabIndex={-1}>
          <MiniLane lane={lane} label={`head ${lane.head}, ${behindOf(lane)} wait behind it`} />
        </a>
      </td>
      <td class="num main-cell">{grouped(depth)}</td>
      <td class="num dim hide-s">{failures === 0 ? "–" : failures}</td>
      <td class="num dim hide-s nowrap">{blockedMs === null ? "–" : duration(blockedMs)}</td>
    </tr>
  );
}
