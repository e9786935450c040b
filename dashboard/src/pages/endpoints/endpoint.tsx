import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Endpoint as EndpointRecord } from "posthorn/client";
import { api } from "../../api/api.ts";
import { confirmed, perform } from "../../shell/deeds.ts";
import { duration, oneLine } from "../../words/format.ts";
import { endpointHref } from "../../place/links.ts";
import { useLive } from "../../api/live.ts";
import { useStatus } from "../../api/status.ts";
import { hrefOf, navigate, place, setQuery } from "../../place/location.ts";
import { Act, Copy } from "../../parts/act.tsx";
import { EndpointForm } from "./endpoint-form.tsx";
import { Secrets } from "./endpoint-secrets.tsx";
import { EndpointTest } from "./endpoint-test.tsx";
import { Empty, Loaded, Page, PageHead } from "../../parts/page.tsx";
import { Panel, Setting } from "../../parts/panel.tsx";
import { Badge } from "../../parts/state.tsx";
import { deadWords, ORDER_WORDS } from "../../words/words.ts";
import { LaneTable } from "../lanes/lane-table.tsx";
import { Health } from "./health.tsx";
import { bareStanding, standingLook } from "./standing.ts";
import { getsWords } from "./endpoints.tsx";

/** One endpoint: how it stands, a test, its lanes, its settings. */
export function EndpointPage({ id = "" }: { readonly id?: string }): JSX.Element {
  const found = useLive(`endpoint ${id}`, () => api.endpoints.get(id));
  const verb = found.data?.state === "active" ? "pause" : "resume";
  return (
    <Page
      title={id}
      cli={[
        `posthorn endpoint show ${id}`,
        `posthorn endpoint test ${id}`,
        `posthorn endpoint ${verb} ${id}`,
      ]}
      get={[`/endpoints/${encodeURIComponent(id)}`]}
    >
      <Loaded of={found} what={`endpoint ${oneLine(id, 60)}`}>
        {(endpoint) => <Shown endpoint={endpoint} />}
      </Loaded>
    </Page>
  );
}

function Shown({ endpoint }: { readonly endpoint: EndpointRecord }): JSX.Element {
  const { id } = endpoint;
  const standing = useStatus().data?.endpoints.find((each) => each.id === id) ?? bareStanding(endpoint);
  const lanes = useLive(`lanes of ${id}`, () => api.lanes.list({ endpoint: id, limit: 8 }));
  return (
    <>
      <Head endpoint={endpoint} standing={<Badge look={standingLook(standing)} large />} />
      <EndpointTabs id={id} halted={standing.haltedLanes} />
      {place.value.query.has("edit") && <Edit endpoint={endpoint} />}
      <Health standing={standing} />
      <Panel
        title="Its lanes"
        end={
          <a class="link" href={hrefOf("/lanes", { endpoint: id })}>
            All of them
          </a>
        }
      >
        {lanes.data?.items.length === 0 && (
          <Empty icon="lanes" title="Nothing waits for it">
            Everything that was published for it has landed, or was given up.
          </Empty>
        )}
        {(lanes.data?.items.length ?? 0) > 0 && <LaneTable lanes={lanes.data?.items ?? []} />}
      </Panel>
      <div class="cols-half">
        <EndpointTest id={id} halted={standing.haltedLanes} />
        <Secrets endpoint={endpoint} />
      </div>
      <Settings endpoint={endpoint} />
    </>
  );
}

/** The lists of this endpoint alone. */
function EndpointTabs({ id, halted }: { readonly id: string; readonly halted: number }): JSX.Element {
  return (
    <nav class="tabs" aria-label="Of this endpoint">
      <a href={endpointHref(id)} aria-current="page">
        Health
      </a>
      <a href={hrefOf("/lanes", { endpoint: id })}>
        Lanes {halted > 0 && <span class="n s-halted">{halted} halted</span>}
      </a>
      <a href={hrefOf("/dead", { endpoint: id })}>Dead letters</a>
    </nav>
  );
}

function Head({
  endpoint,
  standing,
}: {
  readonly endpoint: EndpointRecord;
  readonly standing: JSX.Element;
}): JSX.Element {
  const { id, url, state, because } = endpoint;
  const pause = (): Promise<boolean> =>
    perform(async () => `${(await api.endpoints.pause(id)).id} is paused; its events wait in order.`);
  const resume = (): Promise<boolean> =>
    perform(async () => `${(await api.endpoints.resume(id)).id} is active again.`);
  return (
    <PageHead
      title={oneLine(id, 60)}
      crumbs={[["Endpoints", hrefOf("/endpoints")]]}
      badge={standing}
      lede={
        <span class="url">
          <span class="mono wrap">{oneLine(url, 300)}</span>
          <Copy text={url} what="the address" />
        </span>
      }
    >
      {because !== null && <span class="reason">disabled because {oneLine(because, 80)}</span>}
      {state === "active" ? (
        <Act icon="pause" onAct={pause}>
          Pause
        </Act>
      ) : (
        <Act kind="primary" icon="play" onAct={resume}>
          {state === "paused" ? "Resume" : "Enable"}
        </Act>
      )}
      <Act icon="edit" onAct={() => setQuery({ edit: "1" })}>
        Edit
      </Act>
      <Act kind="danger" icon="cancel" onAct={() => remove(id)}>
        Remove…
      </Act>
    </PageHead>
  );
}

async function remove(id: string): Promise<void> {
  const yes = await confirmed({
    title: `Remove ${id}?`,
    body: (
      <p>
        <b>What waits for it is cancelled</b> and will not be sent. Events that were delivered stay as they
        are. This cannot be undone.
      </p>
    ),
    act: `Remove ${id}`,
    danger: true,
  });
  if (!yes) return;
  await perform(async () => {
    await api.endpoints.remove(id);
    navigate(hrefOf("/endpoints"));
    return `${id} is removed.`;
  });
}

function Edit({ endpoint }: { readonly endpoint: EndpointRecord }): JSX.Element {
  const close = (): void => navigate(endpointHref(endpoint.id));
  // What it was when the form was opened: a refresh must not take back what is being typed.
  const [before] = useState(endpoint);
  return (
    <Panel title="Edit">
      <div class="pad">
        <EndpointForm endpoint={before} onDone={close} onCancel={close} />
      </div>
    </Panel>
  );
}

function Settings({ endpoint }: { readonly endpoint: EndpointRecord }): JSX.Element {
  const { order, types, sources, tenant, maxInFlight, retry } = endpoint;
  const [orderWord, orderWhy] = ORDER_WORDS[order];
  const [deadWord, deadWhy] = deadWords(endpoint);
  return (
    <Panel title="Settings in force">
      <div class="pad">
        <dl class="kv kv-2">
          <Setting label="Order" why={orderWhy}>
            {orderWord}
          </Setting>
          <Setting label="When given up" why={deadWhy}>
            {deadWord}
          </Setting>
          <Setting label="Retry" why="Retry-After is honoured, 1 s to 24 h">
            {retryWords(retry)}
          </Setting>
          <Setting label="Gets" why="patterns of types and sources">
            {getsWords(types, sources)}
          </Setting>
          <Setting label="At once" why="one for each lane">
            {maxInFlight} requests
          </Setting>
          <Setting label="Tenant">{oneLine(tenant, 60)}</Setting>
        </dl>
      </div>
    </Panel>
  );
}

/** `1 s × 4ⁿ, 15 attempts`. */
export function retryWords(retry: Readonly<Record<string, unknown>>): string {
  const { firstMs, factor, maxAttempts, waitsMs } = retry;
  if (Array.isArray(waitsMs)) {
    if (waitsMs.length === 0) return "a single attempt";
    return `after ${(waitsMs as number[])
      .slice(0, 6)
      .map((ms) => duration(ms))
      .join(", ")}`;
  }
  return `${duration(Number(firstMs))} × ${String(factor)}ⁿ, ${String(maxAttempts)} attempts`;
}
