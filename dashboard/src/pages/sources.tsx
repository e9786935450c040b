import type { JSX } from "preact";
import type { EventSummary, RejectedRequest, Source } from "posthorn/client";
import { api } from "../api.ts";
import { basePath } from "../base-path.ts";
import { oneLine } from "../format.ts";
import { sourceHref } from "../links.ts";
import { useLive } from "../live.ts";
import { navigate, place, setQuery } from "../location.ts";
import { Act, Copy } from "../parts/act.tsx";
import { FreshRows, ListFoot, useList } from "../parts/list.tsx";
import { Empty, FailureNotice, Page, PageHead } from "../parts/page.tsx";
import { Panel } from "../parts/panel.tsx";
import { SourceForm } from "../parts/source-form.tsx";
import { Age } from "../parts/time.tsx";
import { providerOf } from "../providers.ts";

const close = (): void => setQuery({ add: undefined });

/** Where events come from. */
export function Sources(): JSX.Element {
  const adding = place.value.query.has("add");
  const list = useList(
    "sources",
    (page) => api.sources.list(page),
    ({ name }) => name,
  );
  const { events, rejected } = useRecent();
  const none = list.live.data !== undefined && list.rows.length === 0;
  return (
    <Page
      title="Sources"
      cli={["posthorn source list", "posthorn source add stripe --secret-file stripe.secret"]}
    >
      <PageHead
        title="Sources"
        lede="Where events come from. Each has an address of its own, and the secret by which its provider signs."
      >
        {!adding && (
          <Act kind="primary" icon="plus" onAct={() => setQuery({ add: "1" })}>
            Add source
          </Act>
        )}
      </PageHead>
      {adding && (
        <Panel title="Add a source">
          <div class="pad">
            <SourceForm onMade={({ name }) => navigate(sourceHref(name))} onCancel={close} />
          </div>
        </Panel>
      )}
      {list.live.failure !== undefined && <FailureNotice failure={list.live.failure} />}
      <section class="panel" aria-label="Sources" {...list.hold}>
        <FreshRows of={list} />
        {none && (
          <Empty icon="source" title="There is no source yet">
            Add one for each provider that sends to you. Events can also be published through the API, without
            a source.
          </Empty>
        )}
        {list.rows.length > 0 && <SourceTable sources={list.rows} events={events} rejected={rejected} />}
        {list.rows.length > 0 && <ListFoot of={list} noun="source" />}
      </section>
    </Page>
  );
}

export interface Recent {
  readonly events: readonly EventSummary[];
  readonly rejected: readonly RejectedRequest[];
}

/** The newest events and rejected requests, by which a source is known to be at work. */
export function useRecent(): Recent {
  const events = useLive("events?", () => api.events.list({ limit: 100 }));
  const rejected = useLive("rejected?", () => api.rejected.list({ limit: 100 }));
  return { events: events.data?.items ?? [], rejected: rejected.data?.items ?? [] };
}

export function SourceTable({
  sources,
  events,
  rejected,
}: Recent & { readonly sources: readonly Source[] }): JSX.Element {
  return (
    <div class="table-wrap">
      <table class="table">
        <thead>
          <tr>
            <th>Source</th>
            <th class="hide-s">Address</th>
            <th class="num">Rejected</th>
            <th class="num">Last event</th>
          </tr>
        </thead>
        <tbody>
          {sources.map((source) => {
            const last = events.find((event) => event.source === source.name);
            const refused = rejected.filter((request) => request.source === source.name).length;
            return (
              <tr data-row class="tall" key={source.name}>
                <td>
                  <a class="main-cell" href={sourceHref(source.name)} data-open>
                    {source.name}
                  </a>
                  <span class="sub">{providerOf(source.scheme).title}</span>
                </td>
                <td class="hide-s">
                  <span class="url">
                    <code class="dim cut">{oneLine(source.path, 60)}</code>
                    <Copy text={addressOf(source)} what="the address" />
                  </span>
                </td>
                <td class={`num ${refused > 0 ? "warn" : "dim"}`}>{refused === 100 ? "100+" : refused}</td>
                <td class="num dim">{last === undefined ? "–" : <Age at={last.time} />}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** What its provider is told. */
export function addressOf({ path }: Pick<Source, "path">): string {
  return `${location.origin}${basePath}${path}`;
}
