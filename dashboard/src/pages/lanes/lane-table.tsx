import type { JSX } from "preact";
import type { Lane } from "posthorn/client";
import { State } from "../../parts/state.tsx";
import { endpointHref, laneHref } from "../../place/links.ts";
import { duration, grouped, oneLine } from "../../words/format.ts";
import { laneLook } from "../../words/words.ts";
import { behindOf, MiniLane } from "./lane-drawing.tsx";

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
        <>
          <State look={laneLook(state)}>
            {laneLook(state).word}
            {state === "retrying" ? due : ""}
          </State>
        </>
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
