import type { JSX } from "preact";
import type { Source, SourceStanding } from "posthorn/client";
import { api } from "../../api/api.ts";
import { basePath } from "../../place/base-path.ts";
import { sourceHref } from "../../place/links.ts";
import { useDay, useStatus } from "../../api/status.ts";
import { navigate, place, setQuery } from "../../place/location.ts";
import { Act } from "../../parts/act.tsx";
import { FreshRows, ListFoot, useList } from "../../parts/list.tsx";
import { Empty, FailureNotice, Page, PageHead } from "../../parts/page.tsx";
import { Panel } from "../../parts/panel.tsx";
import { SourceForm } from "./source-form.tsx";
import { SourceTable } from "./source-table.tsx";

const close = (): void => setQuery({ add: undefined });

/** Where events come from. */
export function Sources(): JSX.Element {
  const adding = place.value.query.has("add");
  const list = useList(
    "sources",
    (page) => api.sources.list(page),
    ({ name }) => name,
  );
  const day = useDay();
  const standings = useStatus().data?.sources ?? [];
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
        {list.rows.length > 0 && (
          <SourceTable
            sources={list.rows.map((row) => standings.find(({ name }) => name === row.name) ?? bare(row))}
            day={day.data}
            tall
          />
        )}
        {list.rows.length > 0 && <ListFoot of={list} noun="source" />}
      </section>
    </Page>
  );
}

/** What its provider is told. */
export function addressOf({ path }: Pick<Source, "path">): string {
  return `${location.origin}${basePath}${path}`;
}

/** A source of which the status has not told yet: it was just added. */
function bare({ name, tenant, scheme }: Source): SourceStanding {
  const recent = { in: 0, stored: 0, duplicate: 0, conflict: 0, rejected: 0 };
  return { name, tenant, scheme, state: "new", lastAt: null, recent };
}
