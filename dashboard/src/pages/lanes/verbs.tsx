import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Consumer, Lane, LaneWaiting, WaitingDelivery } from "posthorn/client";
import { api, failureOf } from "../../api/api.ts";
import { useStatus } from "../../api/status.ts";
import { Act } from "../../parts/act.tsx";
import { Shape } from "../../parts/icon.tsx";
import { Panel } from "../../parts/panel.tsx";
import { isHandler } from "../../place/links.ts";
import { confirmed, perform, tell } from "../../shell/deeds.ts";
import { onKey } from "../../shell/keys.ts";
import { grouped, oneLine } from "../../words/format.ts";
import { pauseConsumer, pausedByWords, resumeConsumer } from "../consumers/pause.tsx";
import { watch } from "../dead/operation.ts";
import { redriveOne } from "../dead/redrive-one.tsx";
import { behindOf, LaneAfter } from "./lane-drawing.tsx";

/** What can be done, what it will do, and the lane after it. */
export function Verbs({ waiting }: { readonly waiting: LaneWaiting }): JSX.Element {
  const { lane, first } = waiting;
  const { head, headId, endpointId } = lane;
  const isDead = first[0]?.state === "dead";
  const redriveHead = (): Promise<boolean> => redriveOne(headId, `#${head}`);
  const skipHead = (): Promise<boolean> => skip(lane);
  useEffect(() => {
    const stops = [onKey("r", () => isDead && void redriveHead()), onKey("s", () => void skipHead())];
    return () => {
      for (const stop of stops) stop();
    };
  });
  const { endpoints = [], consumers = [] } = useStatus().data ?? {};
  const configured = endpoints.find(({ id }) => id === endpointId)?.configured;
  const consumer = consumers.find(({ id }) => id === endpointId);
  const why = isDead ? undefined : `#${head} is not dead: it is still tried by itself.`;
  return (
    <Panel title="What you can do">
      <RedriveVerb lane={lane} because={why} onAct={redriveHead} />
      <SkipVerb lane={lane} next={first[1]} onAct={skipHead} />
      <CancelVerb lane={lane} />
      {configured !== undefined && <EndpointVerb id={endpointId} state={configured} />}
      {consumer !== undefined && <ConsumerVerb consumer={consumer} />}
    </Panel>
  );
}

interface HeadVerbProps {
  readonly lane: Lane;
  readonly onAct: () => Promise<boolean>;
}

function RedriveVerb({
  lane,
  because,
  onAct,
}: HeadVerbProps & { readonly because: string | undefined }): JSX.Element {
  const { head, endpointId } = lane;
  const behind = behindOf(lane);
  const act = (
    <Act kind={because === undefined ? "primary" : "plain"} icon="redrive" because={because} onAct={onAct}>
      Redrive #{head}…<kbd>r</kbd>
    </Act>
  );
  const after = (
    <LaneAfter head="tried" behind={behind}>
      keeps the order
    </LaneAfter>
  );
  return (
    <Verb act={act} after={after}>
      <b>{isHandler(endpointId) ? `Runs the handler of #${head} again` : `Sends #${head} again`}</b>, with all
      of its attempts.
      {behind > 0 &&
        ` If it lands, the ${grouped(behind)} behind it follow in order. If not, the lane halts again.`}
    </Verb>
  );
}

function SkipVerb({
  lane,
  next,
  onAct,
}: HeadVerbProps & { readonly next: WaitingDelivery | undefined }): JSX.Element {
  const { head, endpointId } = lane;
  const act = (
    <Act icon="skip" onAct={onAct}>
      Skip #{head}…<kbd>s</kbd>
    </Act>
  );
  const after = (
    <LaneAfter head="gap" behind={behindOf(lane)}>
      leaves a gap at {head}
    </LaneAfter>
  );
  const follows =
    next === undefined ? "Nothing else waits." : `#${next.sequence} ${oneLine(next.type, 40)} goes next.`;
  return (
    <Verb act={act} after={after}>
      <b>
        {oneLine(endpointId, 30)} will never get #{head}.
      </b>{" "}
      {isHandler(endpointId) ? "" : "It is told of the gap. "}
      {follows}
    </Verb>
  );
}

/** Everything that waits, at once; it is planned by the server first, and said in its words. */
function CancelVerb({ lane }: { readonly lane: Lane }): JSX.Element {
  const { depth, endpointId } = lane;
  const act = (
    <Act icon="cancel" kind="danger" onAct={() => cancel(lane)}>
      Cancel {grouped(depth)}…
    </Act>
  );
  return (
    <Verb act={act}>
      <b>{oneLine(endpointId, 30)} gets nothing of it</b>: neither the head nor what waits behind it now. What
      comes later goes its way. It cannot be undone.
    </Verb>
  );
}

async function cancel({ id, head }: Lane): Promise<boolean> {
  const planned = await api.operations
    .create({ verb: "cancel", filter: { lanes: [{ id, head }] }, dryRun: true })
    .catch((error: unknown) => {
      const { title, detail } = failureOf(error);
      tell(`${title}: ${detail}`, true);
    });
  if (planned === undefined) return false;
  const { plan } = planned;
  const yes = await confirmed({
    title: `Cancel ${grouped(plan.count)}?`,
    body: (
      <>
        <p>{oneLine(plan.words, 300)}</p>
        <ul class="checks">
          {plan.warnings.map(({ text }) => (
            <li class="s-retrying" key={text}>
              <Shape name="s-failing" />
              <span>{oneLine(text, 300)}</span>
            </li>
          ))}
        </ul>
      </>
    ),
    act: `Cancel ${grouped(plan.count)}`,
    danger: true,
  });
  if (!yes) return false;
  return perform(async () => {
    watch((await api.operations.run(planned.id)).id);
    return `${grouped(plan.count)} are being cancelled.`;
  });
}

async function skip({ id, head, endpointId }: Lane): Promise<boolean> {
  const yes = await confirmed({
    title: `Skip #${head}?`,
    body: (
      <p>
        <b>
          {oneLine(endpointId, 40)} will never get #{head}.
        </b>{" "}
        {isHandler(endpointId) ? "The" : "It is told of the gap, and the"} lane goes on. The event itself
        stays where it is.
      </p>
    ),
    act: `Skip #${head}`,
    danger: true,
  });
  if (!yes) return false;
  return perform(async () => {
    const { result } = await api.lanes.skip(id, head);
    if (result === "skipped") return `#${head} is skipped; the lane goes on.`;
    return `#${head} is under way. It is skipped unless this attempt succeeds.`;
  });
}

interface VerbProps {
  readonly act: JSX.Element;
  readonly after?: JSX.Element;
  readonly children: ComponentChildren;
}

function Verb({ act, after, children }: VerbProps): JSX.Element {
  return (
    <div class="verb">
      {act}
      <p>{children}</p>
      {after}
    </div>
  );
}

interface EndpointVerbProps {
  readonly id: string;
  readonly state: "active" | "paused" | "disabled";
}

/** Pause and resume: for all lanes of the handler. */
function ConsumerVerb({ consumer }: { readonly consumer: Consumer }): JSX.Element {
  const name = oneLine(consumer.id, 30);
  if (consumer.state === "active") {
    return (
      <Verb
        act={
          <Act icon="pause" onAct={() => pauseConsumer(consumer)}>
            Pause handler…
          </Act>
        }
      >
        <b>Everything for {name} waits</b>, in all of its lanes and in order, for a time or until you resume
        it.
      </Verb>
    );
  }
  return (
    <Verb
      act={
        <Act kind="primary" icon="play" onAct={() => resumeConsumer(consumer)}>
          {consumer.state === "paused" ? "Resume handler" : "Enable handler"}
        </Act>
      }
    >
      <b>{name} gets its events again</b>, in order. It was paused {pausedByWords(consumer)}.
    </Verb>
  );
}

/** Pause, resume, enable: for all lanes of the endpoint. */
function EndpointVerb({ id, state }: EndpointVerbProps): JSX.Element {
  if (state === "active") {
    const pause = (): Promise<boolean> =>
      perform(async () => `${(await api.endpoints.pause(id)).id} is paused.`);
    return (
      <Verb
        act={
          <Act icon="pause" onAct={pause}>
            Pause endpoint
          </Act>
        }
      >
        <b>Everything for {oneLine(id, 30)} waits</b>, in all of its lanes and in order, until you resume it.
      </Verb>
    );
  }
  const resume = (): Promise<boolean> =>
    perform(async () => `${(await api.endpoints.resume(id)).id} is active.`);
  return (
    <Verb
      act={
        <Act kind="primary" icon="play" onAct={resume}>
          {state === "paused" ? "Resume endpoint" : "Enable endpoint"}
        </Act>
      }
    >
      <b>{oneLine(id, 30)} gets its events again</b>, in order, beginning with the head of each lane.
    </Verb>
  );
}
