import type { ComponentChildren, JSX } from "preact";
import type { Lane, LaneWaiting, WaitingDelivery } from "posthorn/client";
import { age, duration, grouped, oneLine } from "../../words/format.ts";
import { hrefOf } from "../../place/location.ts";
import { deliveryLook, laneLook } from "../../words/words.ts";
import { Shape } from "../../parts/icon.tsx";
import { State } from "../../parts/state.tsx";

const MINI_CELLS = 6;

interface MiniProps {
  readonly lane: Pick<Lane, "state" | "depth">;
  readonly label: string;
  /** The number stands beside it already. */
  readonly bare?: boolean;
}

/** A lane in one glance: its head, and what waits behind it. */
export function MiniLane({ lane, label, bare = false }: MiniProps): JSX.Element {
  const behind = behindOf(lane);
  const drawn = Math.min(behind, MINI_CELLS);
  return (
    <span class="minilane" role="img" aria-label={label}>
      <i class={headClass(lane)} />
      {Array.from({ length: drawn }, (_, index) => (
        <i class="s-waiting" key={index} />
      ))}
      {behind > drawn && !bare && <em class="more">+{grouped(behind - drawn)}</em>}
    </span>
  );
}

function headClass({ state }: Pick<Lane, "state">): string {
  if (state === "halted" || state === "parked") return "s-dead";
  if (state === "paused" || state === "disabled") return "s-paused";
  return "s-retrying";
}

/** How many wait behind the head. */
export function behindOf({ depth }: Pick<Lane, "depth">): number {
  return Math.max(0, Number(depth) - 1);
}

interface AfterProps {
  /** What stands at the head after it. */
  readonly head: "tried" | "gap" | "gone";
  readonly behind: number;
  readonly children: ComponentChildren;
}

/** The lane after a verb. */
export function LaneAfter({ head, behind, children }: AfterProps): JSX.Element {
  const waiting = head === "gap" ? Math.max(0, behind - 1) : behind;
  const drawn = Math.min(waiting, MINI_CELLS);
  const cell = head === "gone" ? "gone" : "s-waiting";
  return (
    <div class="after">
      <span class="minilane" aria-hidden="true">
        {head === "gap" && <i class="gap" />}
        {head === "gone" && <i class="gone" />}
        {(head === "tried" || (head === "gap" && behind > 0)) && <i class="s-retrying" />}
        {Array.from({ length: drawn }, (_, index) => (
          <i class={cell} key={index} />
        ))}
        {waiting > drawn && <em class="more">+{grouped(waiting - drawn)}</em>}
      </span>
      <span>{children}</span>
    </div>
  );
}

interface DrawingProps {
  readonly waiting: LaneWaiting;
}

/** The queue, in order: what landed last, the head, what waits, and the open end. */
export function LaneDrawing({ waiting }: DrawingProps): JSX.Element {
  const { lane, before, first, last, between } = waiting;
  const behind = behindOf(lane);
  const next = first.slice(1, 1 + NEXT_CELLS);
  const newest = last.length > 0 ? last.slice(-LAST_CELLS) : first.slice(1 + NEXT_CELLS).slice(-LAST_CELLS);
  const hidden = behind - next.length - newest.length;
  return (
    // Focusable, because it scrolls: whoever has no pointer moves it with the arrows.
    <div class="lane" tabIndex={0} role="group" aria-label="The lane, in order">
      <div class="lane-track">
        <Past before={before} />
        <HeadCell lane={lane} head={first[0]} />
        {behind > 0 && (
          <div class="lane-part next">
            <span class="cap">
              <span class="s-waiting state">
                <Shape name="s-waiting" />
                Waiting, {grouped(behind)}
              </span>
            </span>
            <div class="cells">
              {next.map((delivery) => (
                <Cell delivery={delivery} key={delivery.id} />
              ))}
              {hidden > 0 && (
                <span class="cell fold" title={`${between} between those in the table`}>
                  {grouped(hidden)} more
                </span>
              )}
              {newest.map((delivery) => (
                <Cell delivery={delivery} key={delivery.id} />
              ))}
            </div>
            <span class="under">
              <span>oldest, {age(next[0]?.ageMs ?? 0)}</span>
              {behind > 1 && <span>newest, {age((newest.at(-1) ?? next.at(-1))?.ageMs ?? 0)}</span>}
            </span>
          </div>
        )}
        <div class="lane-part open">
          <span class="cap" />
          <div class="cells" />
          <span class="under" />
        </div>
      </div>
    </div>
  );
}

const NEXT_CELLS = 6;
const LAST_CELLS = 4;

/** What the lane has behind it. */
function Past({ before }: Pick<LaneWaiting, "before">): JSX.Element {
  const last = before.at(-1);
  return (
    <div class="lane-part past">
      <span class="cap">{last === undefined ? "" : "Before"}</span>
      <div class="cells">
        {before.map((delivery) => (
          <Cell delivery={delivery} key={delivery.id} />
        ))}
      </div>
      <span class="under">{last === undefined ? "" : `last written ${age(last.ageMs)} ago`}</span>
    </div>
  );
}

interface HeadCellProps {
  readonly lane: Lane;
  readonly head: WaitingDelivery | undefined;
}

function HeadCell({ lane, head }: HeadCellProps): JSX.Element {
  const look = head === undefined ? laneLook(lane.state) : deliveryLook(head.state);
  const due = lane.dueInMs !== null && lane.dueInMs > 0 ? `, again in ${duration(lane.dueInMs)}` : "";
  return (
    <div class="lane-part head">
      <span class="cap">
        <b class="ink">Head</b>
      </span>
      <div class="cells">
        <a
          class={`cell now s-${look.tone}`}
          href={hrefOf(`/deliveries/${encodeURIComponent(lane.headId)}`)}
          aria-label={`${lane.head}, ${look.word}`}
        >
          <Shape name={look.icon} />#{lane.head}
        </a>
      </div>
      <span class="under">
        <State look={look}>
          {look.word}
          {due}
        </State>
      </span>
    </div>
  );
}

function Cell({ delivery }: { readonly delivery: WaitingDelivery }): JSX.Element {
  const { id, sequence, state, type } = delivery;
  const look = deliveryLook(state);
  const waits = state === "waiting";
  return (
    <a
      class={`cell s-${look.tone} ${waits ? "soft" : ""}`}
      href={hrefOf(`/deliveries/${encodeURIComponent(id)}`)}
      aria-label={`${sequence}, ${look.word}, ${type}`}
      title={`${oneLine(type, 80)} · ${look.word}`}
    >
      {!waits && <Shape name={look.icon} />}#{sequence}
    </a>
  );
}
