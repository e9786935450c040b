import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { problemOf } from "posthorn/client";
import type { Lane, LaneWaiting, WaitingDelivery } from "posthorn/client";
import { api } from "../../api/api.ts";
import { useLive } from "../../api/live.ts";
import { CopyAs } from "../../parts/copy-as.tsx";
import { Empty, Loaded, Page, PageHead } from "../../parts/page.tsx";
import { Pager, useWalkKeys } from "../../parts/pager.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Badge, State } from "../../parts/state.tsx";
import { endpointHref, eventHref } from "../../place/links.ts";
import { hrefOf } from "../../place/location.ts";
import { age, duration, grouped, oneLine, shortId } from "../../words/format.ts";
import { deliveryLook, laneLook } from "../../words/words.ts";
import { LaneDrawing } from "./lane-drawing.tsx";
import { laneName } from "./lane-table.tsx";
import { SameReason } from "./same-reason.tsx";
import { Verbs } from "./verbs.tsx";

const SHOWN = { first: 12, last: 4, before: 3 } as const;

/** Undefined where nothing waits in the lane: then the API has none of this id. */
async function loadLane(id: string, first: number): Promise<LaneWaiting | undefined> {
  try {
    return await api.lanes.waiting(id, { ...SHOWN, first });
  } catch (error) {
    if (problemOf(error)?.status === 404) return undefined;
    throw error;
  }
}

/** One lane: the queue, and what can be done about its head. */
export function LanePage({ id = "" }: { readonly id?: string }): JSX.Element {
  useWalkKeys();
  const [first, setFirst] = useState<number>(SHOWN.first);
  const found = useLive(`lane ${id} ${first}`, async () => ({ waiting: await loadLane(id, first) }));
  const waiting = found.data?.waiting;
  const [last, setLast] = useState<Lane | undefined>();
  useEffect(() => {
    if (waiting !== undefined) setLast(waiting.lane);
  }, [waiting]);
  const cli = [`posthorn why ${id}`];
  if (waiting?.first[0]?.state === "dead") {
    cli.push(`posthorn redrive ${waiting.lane.headId}`, `posthorn skip ${id} --head ${waiting.lane.head}`);
  }
  return (
    <Page
      title={waiting === undefined ? `Lane ${id}` : laneName(waiting.lane)}
      cli={cli}
      get={[`/lanes/${encodeURIComponent(id)}/waiting`]}
    >
      <Loaded of={found} what={`lane ${oneLine(id, 30)}`}>
        {(loaded) =>
          loaded.waiting === undefined ? (
            <EmptyLane id={id} last={last} />
          ) : (
            <LaneView waiting={loaded.waiting} showMore={() => setFirst(Math.min(100, first + 25))} />
          )
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

interface ViewProps {
  readonly waiting: LaneWaiting;
  readonly showMore: () => void;
}

function LaneView({ waiting, showMore }: ViewProps): JSX.Element {
  const { lane, sentence } = waiting;
  const look = laneLook(lane.state);
  return (
    <>
      <PageHead
        title={laneName(lane)}
        crumbs={[
          ["Lanes", hrefOf("/lanes")],
          [oneLine(lane.endpointId, 40), endpointHref(lane.endpointId)],
        ]}
        badge={
          <Badge look={look} large>
            {look.word}
            {lane.blockedMs !== null && ` for ${duration(lane.blockedMs)}`}
          </Badge>
        }
        lede={oneLine(sentence, 500)}
      >
        <Pager />
        <CopyAs id={lane.id} get={`/lanes/${lane.id}/waiting`} cli={`posthorn why ${lane.id}`} />
      </PageHead>
      <Panel class="lane-panel">
        <LaneDrawing waiting={waiting} />
      </Panel>
      <div class="cols-lane">
        <InThisLane waiting={waiting} showMore={showMore} />
        <div class="stack">
          <Verbs waiting={waiting} />
          {lane.state === "halted" && <SameReason lane={lane} />}
        </div>
      </div>
    </>
  );
}

function InThisLane({ waiting, showMore }: ViewProps): JSX.Element {
  const { lane, first, last, between } = waiting;
  const row = (delivery: WaitingDelivery): JSX.Element => (
    <PlaceRow
      delivery={delivery}
      tenant={lane.tenant}
      head={delivery.sequence === lane.head}
      key={delivery.id}
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
              <th class="num">Waits for</th>
            </tr>
          </thead>
          <tbody>
            {first.map((delivery) => row(delivery))}
            {between !== "0" && (
              <tr class="fold">
                <td colSpan={5}>
                  {grouped(between)} more between them.{" "}
                  {first.length < 100 && (
                    <button class="link-btn" type="button" onClick={showMore}>
                      Show the next 25
                    </button>
                  )}
                </td>
              </tr>
            )}
            {last.map((delivery) => row(delivery))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

interface PlaceProps {
  readonly delivery: WaitingDelivery;
  readonly tenant: string;
  readonly head: boolean;
}

function PlaceRow({ delivery, tenant, head }: PlaceProps): JSX.Element {
  const { eventId, sequence, type, state, ageMs } = delivery;
  const href = eventHref(eventId, tenant);
  return (
    <tr data-row aria-selected={head}>
      <td class={`num ${head ? "main-cell" : "faint"}`}>{sequence}</td>
      <td>
        <a href={href} data-open class={head ? "main-cell" : ""}>
          {oneLine(type, 50)}
        </a>
        <span class="sub mono only-s">{shortId(oneLine(eventId))}</span>
      </td>
      <td class="mono nowrap hide-s">
        <a href={href}>{shortId(oneLine(eventId))}</a>
      </td>
      <td>
        <State look={deliveryLook(state)} />
      </td>
      <td class="num dim nowrap">{age(ageMs)}</td>
    </tr>
  );
}
