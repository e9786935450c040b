import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { DeadLetter, Endpoint, EventSummary, Lane, RejectedRequest, Source } from "posthorn/client";
import { api } from "../api.ts";
import type { Failure } from "../api.ts";
import { count, duration, grouped, oneLine } from "../format.ts";
import { endpointHref, laneHref } from "../links.ts";
import { useLive } from "../live.ts";
import { hrefOf, navigate } from "../location.ts";
import { Icon, Shape } from "../parts/icon.tsx";
import { behindOf, MiniLane } from "../parts/lane-drawing.tsx";
import { PAGE_SIZE } from "../parts/list.tsx";
import { Empty, FailureNotice, Page } from "../parts/page.tsx";
import { Panel } from "../parts/panel.tsx";
import { figure, useDead, useLanes } from "../trouble.ts";
import { verdictOf } from "../verdicts.ts";
import type { Situation, Verdict } from "../verdicts.ts";
import { deadReason, endpointLook, laneLook } from "../words.ts";
import { EndpointTable } from "./endpoints.tsx";
import { EventTable } from "./events.tsx";
import { laneName } from "./lanes.tsx";
import { SourceTable, useRecent } from "./sources.tsx";
import type { Recent } from "./sources.tsx";

const SHOWN = 8;

interface Found {
  readonly situation: Situation;
  readonly moreDead: boolean;
  readonly sources: readonly Source[];
  readonly recent: Recent;
  readonly known: boolean;
  /** Nothing was added yet, and nothing has come. */
  readonly nothing: boolean;
  readonly failure: Failure | undefined;
}

/** All that the overview asks for. */
function useOverview(): Found {
  const lanes = useLanes();
  const dead = useDead();
  const endpoints = useLive("endpoints", () => api.endpoints.list({ limit: PAGE_SIZE }));
  const sources = useLive("sources", () => api.sources.list({ limit: PAGE_SIZE }));
  const recent = useRecent();
  const known = lanes.data !== undefined && endpoints.data !== undefined && sources.data !== undefined;
  const situation: Situation = {
    lanes: lanes.data?.items ?? [],
    moreLanes: (lanes.data?.next ?? null) !== null,
    endpoints: endpoints.data?.items ?? [],
    dead: dead.data?.items ?? [],
  };
  const all = sources.data?.items ?? [];
  return {
    situation,
    moreDead: (dead.data?.next ?? null) !== null,
    sources: all,
    recent,
    known,
    nothing: known && all.length + situation.endpoints.length + recent.events.length === 0,
    failure: lanes.failure ?? endpoints.failure ?? sources.failure,
  };
}

/** One sentence, what waits for a person, and what there is. */
export function Overview(): JSX.Element | null {
  const found = useOverview();
  const { situation, recent, known, nothing, failure, sources } = found;
  useEffect(() => {
    if (nothing) navigate(hrefOf("/start"), { replace: true });
  }, [nothing]);
  if (nothing) return null;
  const { endpoints, lanes } = situation;
  return (
    <Page
      title="Overview"
      cli={["posthorn lanes list", "posthorn dead list", "posthorn events list --follow"]}
    >
      {failure !== undefined && <FailureNotice failure={failure} />}
      {known && <Voice verdict={verdictOf(situation)} />}
      {known && <Figures situation={situation} rejected={recent.rejected} moreDead={found.moreDead} />}
      <div class="cols-2-1">
        <Latest events={recent.events} />
        <NeedsYou situation={situation} />
      </div>
      <Panel title="Endpoints" end={<AllOf path="/endpoints" n={endpoints.length} noun="endpoint" />}>
        {endpoints.length > 0 && <EndpointTable endpoints={endpoints.slice(0, SHOWN)} lanes={lanes} />}
      </Panel>
      <Panel title="Sources" end={<AllOf path="/sources" n={sources.length} noun="source" />}>
        {sources.length > 0 && <SourceTable sources={sources.slice(0, SHOWN)} {...recent} />}
      </Panel>
    </Page>
  );
}

function AllOf({
  path,
  n,
  noun,
}: {
  readonly path: string;
  readonly n: number;
  readonly noun: string;
}): JSX.Element {
  return (
    <a class="link" href={hrefOf(path)}>
      {n === 0 ? "Add one" : `All ${count(n, noun)}`}
    </a>
  );
}

function Latest({ events }: { readonly events: readonly EventSummary[] }): JSX.Element {
  const sample = (
    <a class="btn" href={hrefOf("/start")}>
      Send a sample
    </a>
  );
  const all = (
    <a class="link" href={hrefOf("/events")}>
      All events
    </a>
  );
  return (
    <Panel title="Latest events" end={all}>
      {events.length === 0 ? (
        <Empty icon="events" title="No event has come yet" act={sample}>
          What comes from a source, or is published, stands here within two seconds.
        </Empty>
      ) : (
        <EventTable rows={events.slice(0, SHOWN)} />
      )}
    </Panel>
  );
}

function Voice({ verdict }: { readonly verdict: Verdict }): JSX.Element {
  const { tone, icon, title, more, act } = verdict;
  return (
    <section class={`voice s-${tone}`} aria-live="polite">
      <Shape name={icon} />
      <div class="voice-text">
        <h1>{act === undefined ? title : <a href={hrefOf(act.path)}>{title}</a>}</h1>
        <p class="sub">{more}</p>
      </div>
      {act !== undefined && (
        <a class="btn primary" href={hrefOf(act.path)}>
          {act.label}
          <Icon name="arrow" class="after" />
        </a>
      )}
    </section>
  );
}

interface FiguresProps {
  readonly situation: Situation;
  readonly rejected: readonly RejectedRequest[];
  readonly moreDead: boolean;
}

function Figures({ situation, rejected, moreDead }: FiguresProps): JSX.Element {
  const { lanes, moreLanes, dead } = situation;
  const waiting = lanes.reduce((sum, { depth }) => sum + BigInt(depth), 0n);
  const retrying = lanes.filter(({ state }) => state === "retrying").length;
  const blocking = dead.filter(({ blocks }) => blocks).length;
  const last = rejected.at(0);
  return (
    <section class="stats four" aria-label="Now">
      <Figure
        label="Waiting"
        path="/lanes"
        value={`${grouped(waiting)}${moreLanes ? "+" : ""}`}
        more={
          lanes.length === 0
            ? "every lane is empty"
            : `in ${figure(lanes.length, moreLanes)} ${lanes.length === 1 ? "lane" : "lanes"}`
        }
      />
      <Figure
        label="Retrying"
        path="/lanes"
        value={String(retrying)}
        more={retrying === 0 ? "every endpoint answers" : "they go on by themselves"}
      />
      <Figure
        label="Dead"
        path="/dead"
        value={figure(dead.length, moreDead) || "0"}
        more={
          blocking === 0
            ? "none of them halts a lane"
            : `${blocking} of them ${blocking === 1 ? "halts" : "halt"} a lane`
        }
      />
      <Figure
        label="Rejected"
        path="/rejected"
        value={figure(rejected.length, rejected.length === 100) || "0"}
        more={last === undefined ? "every signature holds" : `the last at ${oneLine(last.source, 24)}`}
      />
    </section>
  );
}

interface FigureProps {
  readonly label: string;
  readonly path: string;
  readonly value: string;
  readonly more: string;
}

function Figure({ label, path, value, more }: FigureProps): JSX.Element {
  return (
    <a class="stat" href={hrefOf(path)}>
      <span class="label">{label}</span>
      <span class="figure">{value}</span>
      <span class="delta">{more}</span>
    </a>
  );
}

/** What waits for a person: halted lanes, disabled endpoints, then what is retried. */
function NeedsYou({ situation }: { readonly situation: Situation }): JSX.Element {
  const halted = situation.lanes.filter(({ state }) => state === "halted");
  const disabled = situation.endpoints.filter(({ state }) => state === "disabled");
  const retrying = situation.lanes.filter(({ state }) => state === "retrying");
  const paused = situation.endpoints.filter(({ state }) => state === "paused");
  const total = halted.length + disabled.length;
  return (
    <Panel title="Needs you" end={total === 0 ? "" : String(total)}>
      {total + retrying.length + paused.length === 0 && (
        <Empty icon="check" title="Nothing">
          Halted lanes and disabled endpoints stand here.
        </Empty>
      )}
      <ul class="needs">
        {halted.slice(0, SHOWN).map((lane) => (
          <NeedsLane lane={lane} letter={headOf(lane, situation.dead)} key={lane.id} />
        ))}
        {disabled.map((endpoint) => (
          <NeedsEndpoint endpoint={endpoint} key={endpoint.id} />
        ))}
        {retrying.slice(0, SHOWN - Math.min(SHOWN, halted.length)).map((lane) => (
          <NeedsLane lane={lane} letter={undefined} key={lane.id} />
        ))}
        {paused.map((endpoint) => (
          <NeedsEndpoint endpoint={endpoint} key={endpoint.id} />
        ))}
      </ul>
    </Panel>
  );
}

function headOf({ headId }: Lane, dead: readonly DeadLetter[]): DeadLetter | undefined {
  return dead.find(({ id }) => id === headId);
}

function NeedsLane({
  lane,
  letter,
}: {
  readonly lane: Lane;
  readonly letter: DeadLetter | undefined;
}): JSX.Element {
  const look = laneLook(lane.state);
  const behind = behindOf(lane);
  const why = letter === undefined ? count(lane.failures, "failure") : deadReason(letter);
  return (
    <li class={`s-${look.tone}`}>
      <a href={laneHref(lane.id)}>
        <Shape name={look.icon} />
        <span class="cut">
          <span class="word">{look.word}</span> <span class="what">{laneName(lane)}</span>
        </span>
        <span class="age">{lane.blockedMs === null ? "" : duration(lane.blockedMs)}</span>
        <span class="why">
          <span class="cut">{why}</span>
          <span class="btns">
            <MiniLane lane={lane} label={`${behind} wait behind the head`} />
          </span>
        </span>
      </a>
    </li>
  );
}

function NeedsEndpoint({ endpoint }: { readonly endpoint: Endpoint }): JSX.Element {
  const look = endpointLook(endpoint.state);
  return (
    <li class={`s-${look.tone}`}>
      <a href={endpointHref(endpoint.id)}>
        <Shape name={look.icon} />
        <span class="cut">
          <span class="word">{look.word}</span> <span class="what">{oneLine(endpoint.id, 40)}</span>
        </span>
        <span class="age" />
        <span class="why">
          {endpoint.because === null ? "its events wait in order" : oneLine(endpoint.because, 80)}
        </span>
      </a>
    </li>
  );
}
