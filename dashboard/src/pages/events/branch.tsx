import type { ComponentChildren, JSX } from "preact";
import type { Attempt, Step, StoryDelivery } from "posthorn/client";
import { Act } from "../../parts/act.tsx";
import { Icon, Shape } from "../../parts/icon.tsx";
import { State } from "../../parts/state.tsx";
import { endpointHref, laneHref, operationHref } from "../../place/links.ts";
import { hrefOf, place } from "../../place/location.ts";
import { duration, oneLine } from "../../words/format.ts";
import { attemptWords, becauseWords, deliveryLook, outcomeLook } from "../../words/words.ts";
import { redriveOne } from "../dead/redrive-one.tsx";
import { answerText, attemptName } from "./attempts.ts";
import { gapOf, Point, RING } from "./point.tsx";

interface BranchProps {
  readonly delivery: StoryDelivery;
  readonly steps: readonly Step[];
  readonly open: boolean;
}

/** One delivery of an event: its attempts with the time between them, how it ended, and what comes next. */
export function Branch({ delivery, steps, open }: BranchProps): JSX.Element {
  const { endpointId, laneId, sequence, state } = delivery;
  return (
    <details class="branch" open={open}>
      <summary>
        <Icon name="right" class="chev" />
        <span class="to">
          <b class="cut">{oneLine(endpointId, 40)}</b>
          {laneId !== null && (
            <span class="faint small nowrap">
              lane {laneId}, #{sequence}
            </span>
          )}
        </span>
        <State look={deliveryLook(state)}>{endWords(delivery)}</State>
      </summary>
      <BranchTimeline delivery={delivery} steps={steps} />
    </details>
  );
}

function endWords({ state, attempts, tried }: StoryDelivery): string {
  const last = tried.at(-1);
  if (state === "delivered" && last !== undefined) return `landed in ${duration(last.durationMs)}`;
  if (state === "dead") return `dead after ${attempts === 1 ? "1 attempt" : `${attempts} attempts`}`;
  return deliveryLook(state).word;
}

/** What is not a point of its own: the summary says it, or the attempt before it. */
const SAID_ELSEWHERE: ReadonlySet<Step["kind"]> = new Set(["placed", "delivered"]);

export function BranchTimeline({ delivery, steps }: Omit<BranchProps, "open">): JSX.Element {
  const own = steps.filter((step) => step.deliveryId === delivery.id && !SAID_ELSEWHERE.has(step.kind));
  return (
    <ol class="timeline">
      {own.map((step, index) => (
        <StepPoint
          step={step}
          before={own[index - 1]}
          delivery={delivery}
          last={index === own.length - 1}
          key={index}
        />
      ))}
      {own.length === 0 && <Point icon={RING} what={oneLine(delivery.sentence, 200)} at={null} future last />}
    </ol>
  );
}

interface StepPointProps {
  readonly step: Step;
  readonly before: Step | undefined;
  readonly delivery: StoryDelivery;
  readonly last: boolean;
}

function StepPoint({ step, before, delivery, last }: StepPointProps): JSX.Element {
  const gapMs = step.future ? undefined : gapOf(before?.at, step.at, before?.durationMs ?? 0);
  const chosen = place.value.query.get("attempt");
  const attempt = delivery.tried.find(
    ({ round, number }) => step.kind === "attempt" && round === step.round && number === step.attempt,
  );
  if (attempt !== undefined) {
    return (
      <Point
        icon={shape(outcomeLook(attempt.outcome))}
        what={<AttemptLine delivery={delivery} attempt={attempt} />}
        note={quoted(attempt)}
        at={step.at}
        gapMs={gapMs}
        on={chosen === attemptName(delivery, attempt)}
        last={last}
      />
    );
  }
  return (
    <Point
      icon={step.future ? RING : markOf(step)}
      what={<StepWords step={step} delivery={delivery} />}
      note={noteOf(step, delivery, last)}
      at={step.future ? null : step.at}
      gapMs={gapMs}
      future={step.future}
      last={last}
    />
  );
}

interface Shaped {
  readonly tone: string;
  readonly icon: string;
}

function shape({ tone, icon }: Shaped): JSX.Element {
  return (
    <span class={`s-${tone}`}>
      <Shape name={icon} />
    </span>
  );
}

function markOf({ kind }: Step): ComponentChildren {
  if (kind === "dead") return shape(deliveryLook("dead"));
  if (kind === "cancelled" || kind === "skipped") return shape(deliveryLook("cancelled"));
  if (kind === "redriven") return <Icon name="redrive" />;
  if (kind === "deed") return <Icon name="note" />;
  return shape(deliveryLook("under_way"));
}

function AttemptLine({
  delivery,
  attempt,
}: {
  readonly delivery: StoryDelivery;
  readonly attempt: Attempt;
}): JSX.Element {
  const query = { ...Object.fromEntries(place.value.query), attempt: attemptName(delivery, attempt) };
  return (
    <a class="attempt-link" href={hrefOf(place.value.path, query)}>
      Attempt {attempt.number}, <b>{attemptWords(attempt)}</b>{" "}
      <span class="faint">in {duration(attempt.durationMs)}</span>
    </a>
  );
}

function quoted({ answer }: Attempt): string {
  const text = answerText(answer);
  return text === "" ? "" : `“${oneLine(text, 80)}”`;
}

function StepWords({ step, delivery }: Pick<StepPointProps, "step" | "delivery">): JSX.Element {
  if (step.kind === "dead") {
    return (
      <>
        <b>Given up</b>: {becauseWords(delivery.because)}
      </>
    );
  }
  const text = oneLine(step.text, 240);
  return <>{text.charAt(0).toUpperCase() + text.slice(1)}</>;
}

function noteOf(step: Step, delivery: StoryDelivery, last: boolean): ComponentChildren {
  if (step.kind === "dead") return <DeadNote delivery={delivery} last={last} />;
  if (step.operationId === null) return "";
  return (
    <a class="link" href={operationHref(step.operationId)}>
      See the operation
    </a>
  );
}

function DeadNote({ delivery, last }: Pick<StepPointProps, "delivery" | "last">): JSX.Element {
  const { laneId, id, sequence, state, endpointId } = delivery;
  return (
    <>
      {laneId === null ? (
        <a class="link" href={endpointHref(endpointId)}>
          {oneLine(endpointId, 40)}
        </a>
      ) : (
        <a class="link" href={laneHref(laneId)}>
          See lane {laneId}
        </a>
      )}
      {last && state === "dead" && (
        <span class="act">
          <Act small icon="redrive" onAct={() => redriveOne(id, sequence === null ? id : `#${sequence}`)}>
            Redrive…
          </Act>
        </span>
      )}
    </>
  );
}
