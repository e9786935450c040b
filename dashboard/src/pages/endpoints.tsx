import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { CreatedEndpoint, Endpoint, Lane } from "posthorn/client";
import { api } from "../api.ts";
import { grouped, oneLine } from "../format.ts";
import { endpointHref } from "../links.ts";
import { place, setQuery } from "../location.ts";
import { Act } from "../parts/act.tsx";
import { EndpointForm } from "../parts/endpoint-form.tsx";
import { FreshRows, ListFoot, useList } from "../parts/list.tsx";
import { Empty, FailureNotice, Page, PageHead } from "../parts/page.tsx";
import { Panel } from "../parts/panel.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";
import { State } from "../parts/state.tsx";
import { useLanes } from "../trouble.ts";
import { endpointLook, needsPerson } from "../words.ts";
import type { Look } from "../words.ts";

const add = (): void => setQuery({ add: "1" });
const close = (): void => setQuery({ add: undefined });

/** Where events go. */
export function Endpoints(): JSX.Element {
  const adding = place.value.query.has("add");
  const [made, setMade] = useState<CreatedEndpoint | undefined>();
  const list = useList(
    "endpoints",
    (page) => api.endpoints.list(page),
    ({ id }) => id,
  );
  const lanes = useLanes().data?.items ?? [];
  const none = list.live.data !== undefined && list.rows.length === 0;
  return (
    <Page
      title="Endpoints"
      cli={["posthorn endpoint list", "posthorn endpoint add https://example.com/webhooks"]}
    >
      <PageHead
        title="Endpoints"
        lede="Where events go. Each gets those whose source and type fit its patterns."
      >
        {!adding && (
          <Act kind="primary" icon="plus" onAct={add}>
            Add endpoint
          </Act>
        )}
      </PageHead>
      {made?.secret !== undefined && (
        <ShownOnce title={`The secret of ${made.id}`} text={made.secret} onDone={() => setMade(undefined)}>
          Your receiver checks signatures with it. It is shown this once.
        </ShownOnce>
      )}
      {adding && (
        <Panel title="Add an endpoint">
          <div class="pad">
            <EndpointForm
              onDone={(endpoint) => {
                setMade(endpoint);
                close();
              }}
              onCancel={close}
            />
          </div>
        </Panel>
      )}
      {list.live.failure !== undefined && <FailureNotice failure={list.live.failure} />}
      <section class="panel" aria-label="Endpoints" {...list.hold}>
        <FreshRows of={list} />
        {none && (
          <Empty icon="endpoint" title="There is no endpoint yet">
            Events that come now are stored, and nobody gets them. An endpoint gets what is published after it
            was added.
          </Empty>
        )}
        {list.rows.length > 0 && <EndpointTable endpoints={list.rows} lanes={lanes} />}
        {list.rows.length > 0 && <ListFoot of={list} noun="endpoint" />}
      </section>
    </Page>
  );
}

interface TableProps {
  readonly endpoints: readonly Endpoint[];
  readonly lanes: readonly Lane[];
}

/** How an endpoint stands, its lanes included. */
export function standingOf(endpoint: Endpoint, lanes: readonly Lane[]): Look {
  const own = lanes.filter(({ endpointId }) => endpointId === endpoint.id);
  const halted = own.filter((lane) => needsPerson(lane)).length;
  if (halted > 0)
    return {
      tone: "halted",
      icon: "s-halted",
      word: halted === 1 ? "1 lane halted" : `${halted} lanes halted`,
    };
  if (endpoint.state !== "active") return endpointLook(endpoint.state);
  if (own.some(({ state }) => state === "retrying"))
    return { tone: "retrying", icon: "s-failing", word: "failing" };
  return endpointLook(endpoint.state);
}

export function EndpointTable({ endpoints, lanes }: TableProps): JSX.Element {
  return (
    <div class="table-wrap">
      <table class="table">
        <thead>
          <tr>
            <th>Endpoint</th>
            <th>State</th>
            <th class="hide-s">Gets</th>
            <th class="hide-m">When given up</th>
            <th class="num">Waiting</th>
          </tr>
        </thead>
        <tbody>
          {endpoints.map((endpoint) => (
            <EndpointRow endpoint={endpoint} lanes={lanes} key={endpoint.id} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function EndpointRow({
  endpoint,
  lanes,
}: {
  readonly endpoint: Endpoint;
  readonly lanes: readonly Lane[];
}): JSX.Element {
  const { id, url, types, sources, order, dead } = endpoint;
  const own = lanes.filter(({ endpointId }) => endpointId === id);
  const waiting = own.reduce((sum, { depth }) => sum + BigInt(depth), 0n);
  return (
    <tr data-row class="tall">
      <td>
        <a class="main-cell" href={endpointHref(id)} data-open>
          {oneLine(id, 40)}
        </a>
        <span class="sub cut url-cell">{oneLine(url, 80)}</span>
      </td>
      <td>
        <State look={standingOf(endpoint, lanes)} />
      </td>
      <td class="dim hide-s">{getsWords(types, sources)}</td>
      <td class="dim hide-m">{dead ?? (order === "none" ? "skip" : "halt")}</td>
      <td class="num">{grouped(waiting)}</td>
    </tr>
  );
}

/** Which events it gets, in words. */
export function getsWords(types: readonly string[], sources: readonly string[]): string {
  const what = types.join(", ") === "*" ? "everything" : types.map((type) => oneLine(type, 40)).join(", ");
  return sources.join(", ") === "*"
    ? what
    : `${what} of ${sources.map((source) => oneLine(source, 30)).join(", ")}`;
}
