import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Delivery, Lane } from "posthorn/client";
import { api } from "../api.ts";
import { confirmed, copy, perform } from "../deeds.ts";
import { count, duration, grouped, oneLine, shortId } from "../format.ts";
import { onKey } from "../keys.ts";
import { loadLane } from "../lane-story.ts";
import type { LaneStory } from "../lane-story.ts";
import { endpointHref, eventHref } from "../links.ts";
import { useLive } from "../live.ts";
import { hrefOf } from "../location.ts";
import { Act } from "../parts/act.tsx";
import { behindOf, LaneAfter, LaneDrawing } from "../parts/lane-drawing.tsx";
import { Empty, Loaded, Page, PageHead } from "../parts/page.tsx";
import { Pager, useWalkKeys } from "../parts/pager.tsx";
import { Panel } from "../parts/panel.tsx";
import { Badge, State } from "../parts/state.tsx";
import { redrive } from "../redrive.tsx";
import { answerWords, deliveryLook, laneLook } from "../words.ts";
import { laneName } from "./lanes.tsx";

/** One lane: the queue, and what can be done about its head. */
export function LanePage({ id = "" }: { readonly id?: string }): JSX.Element {
  useWalkKeys();
  const found = useLive(`lane ${id}`, async () => ({ story: await loadLane(id) }));
  const story = found.data?.story;
  const [last, setLast] = useState<Lane | undefined>();
  useEffect(() => {
    if (story !== undefined) setLast(story.lane);
  }, [story]);
  const cli = [`posthorn lanes show ${id}`];
  if (story?.known.get(story.lane.head)?.state === "dead") {
    cli.push(`posthorn redrive ${story.lane.headId}`, `posthorn skip ${id} --head ${story.lane.head}`);
  }
  return (
    <Page title={story === undefined ? `Lane ${id}` : laneName(story.lane)} cli={cli}>
      <Loaded of={found} what={`lane ${oneLine(id, 30)}`}>
        {(loaded) =>
          loaded.story === undefined ? <EmptyLane id={id} last={last} /> : <LaneView story={loaded.story} />
        }
      </Loaded>
    </Page>
  );
}

/** A lane is there as long as something waits in it. */
function EmptyLane({ id, last }: { readonly id: string; readonly last: Lane | undefined }): JSX.Element {
  const events =
    last === undefined || last.key === "" ? hrefOf("/events") : hrefOf("/events", { key: last.key });
  return (
    <>
      <PageHead
        title={last === undefined ? `Lane ${oneLine(id, 30)}` : laneName(last)}
        crumbs={[["Lanes", hrefOf("/lanes")]]}
        badge={<Badge look={{ tone: "landed", icon: "s-landed", word: "empty" }} large />}
      />
      <Panel>
        <Empty
          icon="check"
          title="Nothing waits in this lane"
          act={
            <a class="btn" href={events}>
              Look at its events
            </a>
          }
        >
          Everything in it has landed or was skipped, or there never was a lane {oneLine(id, 30)}.
        </Empty>
      </Panel>
    </>
  );
}

function LaneView({ story }: { readonly story: LaneStory }): JSX.Element {
  const { lane, known } = story;
  const look = laneLook(lane.state);
  const badge = (
    <Badge look={look} large>
      {look.word}
      {lane.blockedMs !== null && ` for ${duration(lane.blockedMs)}`}
    </Badge>
  );
  return (
    <>
      <PageHead
        title={laneName(lane)}
        crumbs={[
          ["Lanes", hrefOf("/lanes")],
          [oneLine(lane.endpointId, 40), endpointHref(lane.endpointId)],
        ]}
        badge={badge}
        lede={<Why story={story} />}
      >
        <Pager />
        <Act icon="copy" harmless onAct={() => copy(location.href, "the link")}>
          Copy link
        </Act>
      </PageHead>
      <Panel class="lane-panel">
        <LaneDrawing lane={lane} known={known} next={story.next} last={story.last} />
      </Panel>
      <div class="cols-lane">
        <InThisLane story={story} />
        <div class="stack">
          <Verbs story={story} />
        </div>
      </div>
    </>
  );
}

/** Why the lane stands, or that it does not. */
function Why({ story }: { readonly story: LaneStory }): JSX.Element {
  const { lane, known } = story;
  const head = known.get(lane.head);
  const behind = behindOf(lane);
  const waits =
    behind === 0
      ? "Nothing waits behind it."
      : `${count(behind, "later event")} ${behind === 1 ? "waits" : "wait"} in order, so that none overtakes it.`;
  if (lane.state === "paused")
    return <>Its endpoint is paused. Everything waits in order until you resume it.</>;
  if (lane.state === "disabled")
    return <>Its endpoint is disabled. Everything waits in order until you enable it.</>;
  if (head?.state === "dead") {
    return (
      <>
        It stopped because <b>#{lane.head} was given up</b> after {count(head.attempts, "attempt")}, the last
        answered <b>{answerWords(head.lastStatus, head.lastError)}</b>. {waits}
      </>
    );
  }
  if (lane.state === "retrying") {
    return (
      <>
        <b>#{lane.head} has failed</b> {count(lane.failures, "time")}, the last answer was{" "}
        <b>{answerWords(head?.lastStatus ?? null, head?.lastError ?? null)}</b>. It is tried again{" "}
        {lane.dueInMs === null ? "soon" : `in ${duration(lane.dueInMs)}`}. {waits}
      </>
    );
  }
  return <>It moves by itself. {waits}</>;
}

function InThisLane({ story }: { readonly story: LaneStory }): JSX.Element {
  const { lane, known, next, last } = story;
  const hidden = behindOf(lane) - next.length - last.length;
  const row = (sequence: string): JSX.Element => (
    <PlaceRow
      sequence={sequence}
      delivery={known.get(sequence)}
      head={sequence === lane.head}
      key={sequence}
    />
  );
  return (
    <Panel title="In this lane" end={`${grouped(lane.depth)}, oldest first`}>
      <div class="table-wrap">
        <table class="table">
          <thead>
            <tr>
              <th class="num">#</th>
              <th>Type</th>
              <th class="hide-s">Event</th>
              <th>State</th>
            </tr>
          </thead>
          <tbody>
            {row(lane.head)}
            {next.map((sequence) => row(sequence))}
            {hidden > 0 && (
              <tr class="fold">
                <td colSpan={4}>{grouped(hidden)} more between them</td>
              </tr>
            )}
            {last.map((sequence) => row(sequence))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

interface PlaceProps {
  readonly sequence: string;
  readonly delivery: Delivery | undefined;
  readonly head: boolean;
}

function PlaceRow({ sequence, delivery, head }: PlaceProps): JSX.Element {
  if (delivery === undefined) {
    return (
      <tr>
        <td class="num faint">{sequence}</td>
        <td colSpan={3} class="faint">
          not known yet
        </td>
      </tr>
    );
  }
  const href = eventHref(delivery.eventId, delivery.tenant);
  return (
    <tr data-row aria-selected={head}>
      <td class={`num ${head ? "main-cell" : "faint"}`}>{sequence}</td>
      <td>
        <a href={href} data-open class={head ? "main-cell" : ""}>
          {oneLine(delivery.type, 50)}
        </a>
        <span class="sub mono only-s">{shortId(oneLine(delivery.eventId))}</span>
      </td>
      <td class="mono nowrap hide-s">
        <a href={href}>{shortId(oneLine(delivery.eventId))}</a>
      </td>
      <td>
        <State look={deliveryLook(delivery.state)} />
      </td>
    </tr>
  );
}

/** What can be done, what it will do, and the lane after it. */
function Verbs({ story }: { readonly story: LaneStory }): JSX.Element {
  const { lane, known, endpoint } = story;
  const { head, headId } = lane;
  const isDead = known.get(head)?.state === "dead";
  const redriveHead = (): Promise<boolean> => redrive([headId], `Redrive #${head}`);
  const skipHead = (): Promise<boolean> => skip(story);
  useEffect(() => {
    const stops = [onKey("r", () => isDead && void redriveHead()), onKey("s", () => void skipHead())];
    return () => {
      for (const stop of stops) stop();
    };
  });
  const why = isDead ? undefined : `#${head} is not dead: it is still tried by itself.`;
  return (
    <Panel title="What you can do">
      <RedriveVerb lane={lane} because={why} onAct={redriveHead} />
      <SkipVerb lane={lane} next={known.get(nextOf(head))} onAct={skipHead} />
      {endpoint !== undefined && <EndpointVerb id={endpoint.id} state={endpoint.state} />}
    </Panel>
  );
}

function nextOf(sequence: string): string {
  return (BigInt(sequence) + 1n).toString();
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
  const { head } = lane;
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
      <b>Sends #{head} again</b>, with all of its attempts.
      {behind > 0 &&
        ` If it lands, the ${grouped(behind)} behind it follow in order. If not, the lane halts again.`}
    </Verb>
  );
}

function SkipVerb({
  lane,
  next,
  onAct,
}: HeadVerbProps & { readonly next: Delivery | undefined }): JSX.Element {
  const { head, endpointId } = lane;
  const behind = behindOf(lane);
  const act = (
    <Act icon="skip" onAct={onAct}>
      Skip #{head}…<kbd>s</kbd>
    </Act>
  );
  const after = (
    <LaneAfter head="gap" behind={behind}>
      leaves a gap at {head}
    </LaneAfter>
  );
  const follows =
    behind === 0 ? "Nothing else waits." : `#${nextOf(head)} ${oneLine(next?.type ?? "", 40)} goes next.`;
  return (
    <Verb act={act} after={after}>
      <b>
        {oneLine(endpointId, 30)} will never get #{head}.
      </b>{" "}
      It is told of the gap. {follows}
    </Verb>
  );
}

async function skip({ lane }: LaneStory): Promise<boolean> {
  const { id, head, endpointId } = lane;
  const yes = await confirmed({
    title: `Skip #${head}?`,
    body: (
      <p>
        <b>
          {oneLine(endpointId, 40)} will never get #{head}.
        </b>{" "}
        It is told of the gap, and the lane goes on. The event itself stays where it is.
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

export function Verb({ act, after, children }: VerbProps): JSX.Element {
  return (
    <div class="verb">
      {act}
      <p>{children}</p>
      {after}
    </div>
  );
}

/** Pause, resume, enable: for all lanes of the endpoint. */
function EndpointVerb({
  id,
  state,
}: {
  readonly id: string;
  readonly state: "active" | "paused" | "disabled";
}): JSX.Element {
  if (state === "active") {
    return (
      <Verb
        act={
          <Act
            icon="pause"
            onAct={() => perform(async () => `${(await api.endpoints.pause(id)).id} is paused.`)}
          >
            Pause endpoint
          </Act>
        }
      >
        <b>Everything for {oneLine(id, 30)} waits</b>, in all of its lanes and in order, until you resume it.
      </Verb>
    );
  }
  return (
    <Verb
      act={
        <Act
          kind="primary"
          icon="play"
          onAct={() => perform(async () => `${(await api.endpoints.resume(id)).id} is active.`)}
        >
          {state === "paused" ? "Resume endpoint" : "Enable endpoint"}
        </Act>
      }
    >
      <b>{oneLine(id, 30)} gets its events again</b>, in order, beginning with the head of each lane.
    </Verb>
  );
}
