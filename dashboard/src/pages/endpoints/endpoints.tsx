import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { CreatedEndpoint } from "posthorn/client";
import { api } from "../../api/api.ts";
import { useDay, useStatus } from "../../api/status.ts";
import { oneLine } from "../../words/format.ts";
import { place, setQuery } from "../../place/location.ts";
import { Act } from "../../parts/act.tsx";
import { EndpointForm } from "./endpoint-form.tsx";
import { EndpointTable } from "./endpoint-table.tsx";
import { bareStanding } from "./standing.ts";
import { FreshRows, ListFoot, useList } from "../../parts/list.tsx";
import { Empty, FailureNotice, Page, PageHead } from "../../parts/page.tsx";
import { Panel } from "../../parts/panel.tsx";
import { ShownOnce } from "../../parts/shown-once.tsx";

const add = (): void => setQuery({ add: "1" });
const close = (): void => setQuery({ add: undefined });

/** Where events go. */
export function Endpoints(): JSX.Element {
  const adding = place.value.query.has("add");
  const list = useList(
    "endpoints",
    (page) => api.endpoints.list(page),
    ({ id }) => id,
  );
  const day = useDay();
  const standings = useStatus().data?.endpoints ?? [];
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
      <Adding shown={adding} />
      {list.live.failure !== undefined && <FailureNotice failure={list.live.failure} />}
      <section class="panel" aria-label="Endpoints" {...list.hold}>
        <FreshRows of={list} />
        {none && (
          <Empty icon="endpoint" title="There is no endpoint yet">
            Events that come now are stored, and nobody gets them. An endpoint gets what is published after it
            was added.
          </Empty>
        )}
        {list.rows.length > 0 && (
          <EndpointTable
            endpoints={list.rows.map((row) => standings.find(({ id }) => id === row.id) ?? bareStanding(row))}
            day={day.data}
            tall
          />
        )}
        {list.rows.length > 0 && <ListFoot of={list} noun="endpoint" />}
      </section>
    </Page>
  );
}

/** The form, and then the secret of what it has made. */
function Adding({ shown }: { readonly shown: boolean }): JSX.Element {
  const [made, setMade] = useState<CreatedEndpoint | undefined>();
  return (
    <>
      {made?.secret !== undefined && (
        <ShownOnce title={`The secret of ${made.id}`} text={made.secret} onDone={() => setMade(undefined)}>
          Your receiver checks signatures with it. It is shown this once.
        </ShownOnce>
      )}
      {shown && (
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
    </>
  );
}

/** Which events it gets, in words. */
export function getsWords(types: readonly string[], sources: readonly string[]): string {
  const what = types.join(", ") === "*" ? "everything" : types.map((type) => oneLine(type, 40)).join(", ");
  return sources.join(", ") === "*"
    ? what
    : `${what} of ${sources.map((source) => oneLine(source, 30)).join(", ")}`;
}
