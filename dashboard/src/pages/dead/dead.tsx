import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { DeadGroup, DeadQuery } from "posthorn/client";
import { api } from "../../api/api.ts";
import { useLive } from "../../api/live.ts";
import { Filters, filtersIn } from "../../parts/filters.tsx";
import { useList } from "../../parts/list.tsx";
import { Empty, FailureNotice, Page, PageHead } from "../../parts/page.tsx";
import { Panel } from "../../parts/panel.tsx";
import { hrefOf } from "../../place/location.ts";
import { OperationTable } from "../operations/operation-table.tsx";
import { DEAD_FILTERS, flagsOf, groupFits, queryOfGroup } from "./dead-filter.ts";
import { GroupTable } from "./dead-groups.tsx";
import { Letters } from "./dead-letters.tsx";
import { DeadPlan } from "./dead-plan.tsx";
import type { Chosen } from "./dead-plan.tsx";
import { isUnderWay, watch } from "./operation.ts";

const NOTHING: Chosen = { groups: [], letters: [] };

/** Deliveries that were given up: look at the groups, choose, read the plan, run it. */
export function Dead(): JSX.Element {
  const filter = filtersIn(DEAD_FILTERS) as DeadQuery;
  const groups = useLive("dead groups", () => api.dead.groups());
  const list = useList(
    `dead ${JSON.stringify(filter)}`,
    (page) => api.dead.list({ ...filter, ...page }),
    ({ id, round }) => `${id} ${round}`,
  );
  const [chosen, setChosen] = useState<Chosen>(NOTHING);
  const shown = (groups.data?.items ?? []).filter((group) => groupFits(group, filter));
  const failure = groups.failure ?? list.live.failure;
  const flags = flagsOf(filter);
  const none = groups.data !== undefined && shown.length === 0 && list.rows.length === 0;
  return (
    <Page
      title="Dead letters"
      cli={[`posthorn dead groups`, `posthorn redrive --all${flags} --dry-run`]}
      get={["/dead/groups", `/dead?${new URLSearchParams(filter as Record<string, string>).toString()}`]}
    >
      <PageHead
        title="Dead letters"
        lede="Deliveries that were given up. They keep their bytes until you redrive or skip them."
      />
      <Filters names={DEAD_FILTERS} filter={filter as Record<string, string>} />
      {failure !== undefined && <FailureNotice failure={failure} />}
      {none ? (
        <Nothing filtered={flags !== ""} />
      ) : (
        <>
          <GroupTable
            groups={shown}
            chosen={chosen.groups}
            setChosen={(some) => setChosen({ groups: some, letters: [] })}
          />
          <Plan chosen={chosen} groups={shown} filter={filter} discard={() => setChosen(NOTHING)} />
          <Letters
            list={list}
            chosen={chosen.letters}
            setChosen={(letters) => setChosen({ groups: [], letters })}
          />
        </>
      )}
      <Earlier />
    </Page>
  );
}

interface PlanProps {
  readonly chosen: Chosen;
  readonly groups: readonly DeadGroup[];
  readonly filter: DeadQuery;
  readonly discard: () => void;
}

function Plan({ chosen, groups, filter, discard }: PlanProps): JSX.Element | null {
  const { since, until, key } = filter;
  const narrowed = { ...(since && { since }), ...(until && { until }), ...(key && { key }) };
  const filters = [
    ...groups
      .filter(({ id }) => chosen.groups.includes(id))
      .map((group) => ({ dead: queryOfGroup(group, narrowed) })),
    ...(chosen.letters.length === 0 ? [] : [{ deliveries: chosen.letters }]),
  ];
  if (filters.length === 0) return null;
  return <DeadPlan filters={filters} discard={discard} key={JSON.stringify(filters)} />;
}

function Nothing({ filtered }: { readonly filtered: boolean }): JSX.Element {
  return (
    <section class="panel">
      {filtered ? (
        <Empty
          icon="search"
          title="No dead letter fits"
          act={
            <a class="btn" href={hrefOf("/dead")}>
              Show all
            </a>
          }
        >
          Filters are exact; a key needs its endpoint.
        </Empty>
      ) : (
        <Empty icon="check" title="Nothing was given up">
          A delivery ends here when all of its attempts have failed, or its endpoint refuses it for good.
        </Empty>
      )}
    </section>
  );
}

const SHOWN = 5;

/** What was done before, by whom. What others have started is shown below, too. */
function Earlier(): JSX.Element | null {
  const { data } = useLive("operations", () => api.operations.list({ limit: SHOWN + 5 }));
  const items = data?.items ?? [];
  for (const each of items) if (isUnderWay(each)) watch(each.id);
  const ended = items.filter((each) => !isUnderWay(each));
  if (ended.length === 0) return null;
  return (
    <Panel
      title="Earlier"
      end={
        <a class="link" href={hrefOf("/operations")}>
          All operations
        </a>
      }
    >
      <OperationTable operations={ended.slice(0, SHOWN)} />
    </Panel>
  );
}
