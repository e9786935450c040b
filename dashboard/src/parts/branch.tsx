import type { ComponentChildren, JSX } from "preact";
import type { Attempt, Delivery } from "posthorn/client";
import { duration, oneLine } from "../format.ts";
import { deliveryHref, endpointHref, laneHref } from "../links.ts";
import { attemptWords, becauseWords, deliveryLook, outcomeLook } from "../words.ts";
import { redrive } from "../redrive.tsx";
import { Act } from "./act.tsx";
import { Icon, Shape } from "./icon.tsx";
import { State } from "./state.tsx";
import { Clock } from "./time.tsx";

interface BranchProps {
  readonly delivery: Delivery;
  readonly attempts: readonly Attempt[];
  readonly open: boolean;
}

/** One delivery of an event: its attempts with the time between them, how it ended, and what comes next. */
export function Branch({ delivery, attempts, open }: BranchProps): JSX.Element {
  const { endpointId, laneId, sequence, state } = delivery;
  return (
    <details class="branch" open={open}>
      <summary>
        <Icon name="right" class="chev" />
        <span class="to">
          <b class="cut">{oneLine(endpointId, 40)}</b>
          {laneId !== null && (
            <span class="faint small">
              lane {laneId}, #{sequence}
            </span>
          )}
        </span>
        <State look={deliveryLook(state)}>{endWords(delivery, attempts)}</State>
      </summary>
      <BranchTimeline delivery={delivery} attempts={attempts} />
    </details>
  );
}

function endWords({ state, attempts: tries }: Delivery, attempts: readonly Attempt[]): string {
  const last = attempts.at(-1);
  if (state === "delivered" && last !== undefined) return `landed in ${duration(last.durationMs)}`;
  if (state === "dead") return `dead after ${tries === 1 ? "1 attempt" : `${tries} attempts`}`;
  return deliveryLook(state).word;
}

export function BranchTimeline({ delivery, attempts }: Omit<BranchProps, "open">): JSX.Element {
  return (
    <ol class="timeline">
      {attempts.map((attempt, index) => (
        <AttemptPoint
          attempt={attempt}
          before={attempts[index - 1]}
          key={`${attempt.round} ${attempt.number}`}
        />
      ))}
      <EndPoint delivery={delivery} />
    </ol>
  );
}

function AttemptPoint({
  attempt,
  before,
}: {
  readonly attempt: Attempt;
  readonly before: Attempt | undefined;
}): JSX.Element {
  const look = outcomeLook(attempt.outcome);
  const gapMs =
    before === undefined
      ? undefined
      : Date.parse(attempt.startedAt) - Date.parse(before.startedAt) - before.durationMs;
  const answer = answerText(attempt.answer);
  const redriven = before !== undefined && attempt.round > before.round;
  return (
    <>
      {gapMs !== undefined && (
        <li class="gap">
          <span>
            +{duration(Math.max(0, gapMs))}
            {redriven && ", redriven"}
          </span>
        </li>
      )}
      <li>
        <span class="dot">
          <span class={`s-${look.tone}`}>
            <Shape name={look.icon} />
          </span>
        </span>
        <span class="what">
          Attempt {attempt.number}, <b>{attemptWords(attempt)}</b>{" "}
          <span class="faint">in {duration(attempt.durationMs)}</span>
          {answer !== "" && (
            <details class="answer">
              <summary class="note">“{oneLine(answer, 80)}”</summary>
              <code>{oneLine(answer, 16_384)}</code>
            </details>
          )}
        </span>
        <Clock at={attempt.startedAt} />
      </li>
    </>
  );
}

/** The first bytes of an answer, as far as they are text. */
export function answerText(base64: string | null): string {
  if (base64 === null || base64 === "") return "";
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return new TextDecoder().decode(bytes).trim();
}

interface EndProps {
  readonly icon: ComponentChildren;
  readonly what: ComponentChildren;
  readonly note?: ComponentChildren;
  readonly future?: boolean;
}

function End({ icon, what, note, future = false }: EndProps): JSX.Element {
  return (
    <li class={`end ${future ? "future" : ""}`}>
      <span class="dot">{icon}</span>
      <span class="what">
        {what}
        {note !== undefined && <span class="note">{note}</span>}
      </span>
      <span class="t" />
    </li>
  );
}

const RING = <span class="ring" />;

/** How it ended, or what comes next. */
function EndPoint({ delivery }: { readonly delivery: Delivery }): JSX.Element | null {
  const { state, because, laneId, dueInMs, id } = delivery;
  const look = deliveryLook(state);
  const shape = (
    <span class={`s-${look.tone}`}>
      <Shape name={look.icon} />
    </span>
  );
  const lane =
    laneId === null ? (
      "its lane"
    ) : (
      <a class="link" href={laneHref(laneId)}>
        lane {laneId}
      </a>
    );
  switch (state) {
    case "delivered":
      return null;
    case "under_way":
      return <End icon={shape} what="An attempt is under way" future />;
    case "retrying":
      return <End icon={RING} what={`Next attempt ${inWords(dueInMs)}`} future />;
    case "waiting":
      if (dueInMs !== null) return <End icon={RING} what={`First attempt ${inWords(dueInMs)}`} future />;
      return (
        <End
          icon={RING}
          what={<>Waits for those before it in {lane}</>}
          note="so that none overtakes another"
          future
        />
      );
    case "cancelled":
      return <End icon={shape} what={<b>Cancelled</b>} note={becauseWords(because)} />;
    case "dead":
      return (
        <End
          icon={shape}
          what={<b>Given up</b>}
          note={<DeadNote delivery={delivery} lane={lane} id={id} />}
        />
      );
  }
}

function DeadNote({
  delivery,
  lane,
  id,
}: {
  readonly delivery: Delivery;
  readonly lane: ComponentChildren;
  readonly id: string;
}): JSX.Element {
  return (
    <>
      {becauseWords(delivery.because)}; see {lane}
      <span class="act">
        <Act
          small
          icon="redrive"
          onAct={() => redrive([id], `Redrive ${delivery.sequence === null ? id : `#${delivery.sequence}`}`)}
        >
          Redrive…
        </Act>
      </span>
    </>
  );
}

function inWords(ms: number | null): string {
  if (ms === null) return "when it is its turn";
  return ms <= 0 ? "now" : `in ${duration(ms)}`;
}

/** For rows that name a delivery. */
export function DeliveryLinks({ delivery }: { readonly delivery: Delivery }): JSX.Element {
  return (
    <>
      <a class="main-cell" href={deliveryHref(delivery.id)} data-open>
        {delivery.id}
      </a>{" "}
      <a class="dim" href={endpointHref(delivery.endpointId)}>
        {delivery.endpointId}
      </a>
    </>
  );
}
