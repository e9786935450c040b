import type { JSX } from "preact";
import type { Need, Status } from "posthorn/client";
import { Shape } from "../../parts/icon.tsx";
import { Empty } from "../../parts/page.tsx";
import { Panel } from "../../parts/panel.tsx";
import { count, duration, grouped, oneLine } from "../../words/format.ts";
import { becauseWords } from "../../words/words.ts";
import { MiniLane } from "../lanes/lane-drawing.tsx";
import { NEED_LOOKS, needHref } from "./verdict.ts";

const SHOWN = 7;

/** What waits for a person, the worst first. */
export function NeedsYou({ status }: { readonly status: Status | undefined }): JSX.Element {
  const needs = status?.needs ?? [];
  return (
    <Panel title="Needs you" end={needs.length === 0 ? "" : String(needs.length)}>
      {status !== undefined && needs.length === 0 && (
        <Empty icon="check" title="Nothing">
          Halted lanes, failing endpoints and silent sources stand here.
        </Empty>
      )}
      <ul class="needs">
        {needs.slice(0, SHOWN).map((need) => (
          <NeedRow
            need={need}
            key={`${need.kind} ${need.laneId} ${need.endpointId} ${need.source} ${need.key}`}
          />
        ))}
      </ul>
      {needs.length > SHOWN && (
        <p class="pad-note small faint">
          and {count(needs.length - SHOWN, "other")}; the lists have them all
        </p>
      )}
    </Panel>
  );
}

/** What it is about: the endpoint and its key, or the source. */
function subjectOf({ kind, endpointId, key, source }: Need): string {
  if (kind === "dead_letters" && endpointId === null) return "letters";
  const name = oneLine(endpointId ?? source ?? "", 40);
  return key === null || key === "" ? name : `${name} · ${oneLine(key, 40)}`;
}

function NeedRow({ need }: { readonly need: Need }): JSX.Element {
  const look = NEED_LOOKS[need.kind];
  const waits = need.laneId !== null;
  // A lane counts its head too.
  const behind = Math.max(0, need.count - 1);
  return (
    <li class={`s-${look.tone}`}>
      <a href={needHref(need)} title={need.text}>
        <Shape name={look.icon} />
        <span class="cut">
          <span class="word">{look.word}</span> <span class="what">{subjectOf(need)}</span>
        </span>
        <span class="age">{need.sinceMs === null ? "" : duration(need.sinceMs)}</span>
        <span class="why">
          <span class="cut">{whyOf(need)}</span>
          {waits && (
            <span class="need-lane">
              <MiniLane
                lane={{ state: laneState(need), depth: String(need.count) }}
                label={`${behind} wait behind the head`}
                bare
              />
              <span class="n">{grouped(behind)} wait</span>
            </span>
          )}
        </span>
      </a>
    </li>
  );
}

function laneState({ kind }: Need): "halted" | "parked" | "retrying" {
  if (kind === "lane_halted") return "halted";
  return kind === "lane_parked" ? "parked" : "retrying";
}

/** Its reason where there is one; else the server's words without what stands beside them already. */
function whyOf({ kind, because, text }: Need): string {
  if (because !== null) return becauseWords(because);
  if (kind === "lane_halted") return "its head was given up";
  const at = text.indexOf("; ");
  return oneLine(at === -1 ? text.replace(/^[^:]*: /, "") : text.slice(at + 2), 80);
}
