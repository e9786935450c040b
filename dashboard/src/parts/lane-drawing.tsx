import type { ComponentChildren, JSX } from "preact";
import type { Delivery, Lane } from "posthorn/client";
import { duration, grouped } from "../format.ts";
import { hrefOf } from "../location.ts";
import { deliveryLook, laneLook } from "../words.ts";
import { Shape } from "./icon.tsx";
import { State } from "./state.tsx";

const MINI_CELLS = 6;

interface MiniProps {
  readonly lane: Pick<Lane, "state" | "depth">;
  readonly label: string;
}

/** A lane in one glance: its head, and what waits behind it. */
export function MiniLane({ lane, label }: MiniProps): JSX.Element {
  const behind = behindOf(lane);
  const drawn = Math.min(behind, MINI_CELLS);
  return (
    <span class="minilane" role="img" aria-label={label}>
      <i class={headClass(lane)} />
      {Array.from({ length: drawn }, (_, index) => (
        <i class="s-waiting" key={index} />
      ))}
      {behind > drawn && <em class="more">+{grouped(behind - drawn)}</em>}
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
  readonly head: "tried" | "gap";
  readonly behind: number;
  readonly children: ComponentChildren;
}

/** The lane after a verb. */
export function LaneAfter({ head, behind, children }: AfterProps): JSX.Element {
  const waiting = head === "gap" ? Math.max(0, behind - 1) : behind;
  const drawn = Math.min(waiting, MINI_CELLS);
  return (
    <div class="after">
      <span class="minilane" aria-hidden="true">
        {head === "gap" && <i class="gap" />}
        {(head === "tried" || behind > 0) && <i class="s-retrying" />}
        {Array.from({ length: drawn }, (_, index) => (
          <i class="s-waiting" key={index} />
        ))}
        {waiting > drawn && <em class="more">+{grouped(waiting - drawn)}</em>}
      </span>
      <span>{children}</span>
    </div>
  );
}

interface DrawingProps {
  readonly lane: Lane;
  /** Those places of the lane that are known, by their sequence. */
  readonly known: ReadonlyMap<string, Delivery>;
  readonly next: readonly string[];
  readonly last: readonly string[];
}

/** The queue, in order: the road that led here, the head, what waits, and the open end. */
export function LaneDrawing({ lane, known, next, last }: DrawingProps): JSX.Element {
  const behind = behindOf(lane);
  const hidden = behind - next.length - last.length;
  return (
    // Focusable, because it scrolls: whoever has no pointer moves it with the arrows.
    <div class="lane" tabIndex={0} role="group" aria-label="The lane, in order">
      <div class="lane-track">
        <div class="lane-part past" aria-hidden="true">
          <span class="cap" />
          <div class="cells" />
          <span class="under" />
        </div>
        <HeadCell lane={lane} delivery={known.get(lane.head)} />
        {behind > 0 && (
          <div class="lane-part next">
            <span class="cap">
              <span class="s-waiting state">
                <Shape name="s-waiting" />
                Waiting, {grouped(behind)}
              </span>
            </span>
            <div class="cells">
              {next.map((sequence) => (
                <Cell sequence={sequence} delivery={known.get(sequence)} key={sequence} />
              ))}
              {hidden > 0 && <span class="cell fold">{grouped(hidden)} more</span>}
              {last.map((sequence) => (
                <Cell sequence={sequence} delivery={known.get(sequence)} key={sequence} />
              ))}
            </div>
            <span class="under">in the order in which they were published</span>
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

function HeadCell({
  lane,
  delivery,
}: {
  readonly lane: Lane;
  readonly delivery: Delivery | undefined;
}): JSX.Element {
  const look = delivery === undefined ? laneLook(lane.state) : deliveryLook(delivery.state);
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

function Cell({
  sequence,
  delivery,
}: {
  readonly sequence: string;
  readonly delivery: Delivery | undefined;
}): JSX.Element {
  if (delivery === undefined) return <span class="cell soft s-waiting">#{sequence}</span>;
  const look = deliveryLook(delivery.state);
  const waits = delivery.state === "waiting";
  return (
    <a
      class={`cell s-${look.tone} ${waits ? "soft" : ""}`}
      href={hrefOf(`/deliveries/${encodeURIComponent(delivery.id)}`)}
      aria-label={`${sequence}, ${look.word}, ${delivery.type}`}
      title={`${delivery.type} · ${look.word}`}
    >
      {!waits && <Shape name={look.icon} />}#{sequence}
    </a>
  );
}
