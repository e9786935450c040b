import type { JSX } from "preact";
import { api } from "../../api/api.ts";
import { FreshRows, ListFoot, useList } from "../../parts/list.tsx";
import { Empty, FailureNotice, Page, PageHead } from "../../parts/page.tsx";
import { hrefOf } from "../../place/location.ts";
import { ConsumerTable } from "./consumer-table.tsx";

/** Handlers in the processes of applications. */
export function Consumers(): JSX.Element {
  const list = useList(
    "consumers",
    () => api.consumers.list(),
    ({ id }) => id,
  );
  return (
    <Page title="Consumers" cli={["posthorn consumers list"]} get={["/consumers"]}>
      <PageHead
        title="Consumers"
        lede="Handlers in the processes of your applications. A worker says every minute which of them it has."
      />
      {list.live.failure !== undefined && <FailureNotice failure={list.live.failure} />}
      <section class="panel" aria-label="Consumers" {...list.hold}>
        <FreshRows of={list} />
        {list.rows.length > 0 && <ConsumerTable consumers={list.rows} />}
        {list.rows.length > 0 && <ListFoot of={list} noun="consumer" />}
        {list.rows.length === 0 && list.live.data !== undefined && <NoConsumers />}
      </section>
    </Page>
  );
}

function NoConsumers(): JSX.Element {
  return (
    <Empty
      icon="consumer"
      title="No worker has registered a handler"
      act={
        <a class="btn" href={hrefOf("/endpoints")}>
          Look at the endpoints
        </a>
      }
    >
      A handler is here from the first start of a worker of the library (createWorker) on this database.
      Handlers that run within their request are not: the inbox has what they handled. A gateway sends to
      endpoints instead.
    </Empty>
  );
}
