import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { api } from "../../api/api.ts";
import { Filters, filtersIn } from "../../parts/filters.tsx";
import { FreshRows, ListFoot, useList } from "../../parts/list.tsx";
import { Empty, FailureNotice, Page, PageHead } from "../../parts/page.tsx";
import { walk } from "../../place/links.ts";
import { hrefOf } from "../../place/location.ts";
import { OperationTable } from "./operation-table.tsx";

const FILTERS = ["state", "verb"] as const;

/** What was done to many deliveries at once, by whom. */
export function Operations(): JSX.Element {
  const filter = filtersIn(FILTERS);
  const asked = new URLSearchParams(filter).toString();
  const list = useList(
    `operations?${asked}`,
    (page) => api.operations.list({ ...filter, ...page }),
    ({ id }) => id,
  );
  useEffect(() => {
    walk.value = list.rows.map(({ id }) => hrefOf(`/operations/${id}`));
  }, [list.rows]);
  return (
    <Page title="Operations" cli={["posthorn operations list"]} get={[`/operations?${asked}`]}>
      <PageHead
        title="Operations"
        lede="What was done to many deliveries at once: the plan, the result of each item, and who did it."
      />
      <Filters names={FILTERS} filter={filter} />
      {list.live.failure !== undefined && <FailureNotice failure={list.live.failure} />}
      <section class="panel" aria-label="Operations" {...list.hold}>
        <FreshRows of={list} />
        {list.rows.length > 0 && <OperationTable operations={list.rows} />}
        {list.rows.length > 0 && <ListFoot of={list} noun="operation" />}
        {list.rows.length === 0 && list.live.data !== undefined && (
          <Empty
            icon="redrive"
            title="Nothing was done to many at once"
            act={
              <a class="btn" href={hrefOf("/dead")}>
                Look at the dead letters
              </a>
            }
          >
            Choose dead letters, read the plan, and run it: then it stands here.
          </Empty>
        )}
      </section>
    </Page>
  );
}
