import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { RejectedRequest } from "posthorn/client";
import { api } from "../../api/api.ts";
import { Filters, filtersIn } from "../../parts/filters.tsx";
import { byteSize, oneLine } from "../../words/format.ts";
import { rejectedHref, shellWord, walk } from "../../place/links.ts";
import { CellFilter, FreshRows, ListFoot, useList } from "../../parts/list.tsx";
import { Empty, FailureNotice, Page, PageHead } from "../../parts/page.tsx";
import { Ago } from "../../parts/time.tsx";
import { verdictWords } from "../../words/words.ts";

const FILTERS = ["source", "since", "until"] as const;

/** Requests that were not taken in. */
export function Rejected(): JSX.Element {
  const filter = filtersIn(FILTERS);
  const asked = new URLSearchParams(filter).toString();
  const list = useList(
    `rejected?${asked}`,
    (page) => api.rejected.list({ ...filter, ...page }),
    ({ id }) => id,
  );
  useEffect(() => {
    walk.value = list.rows.map(({ id }) => rejectedHref(id));
  }, [list.rows]);
  const flags = Object.entries(filter).map(([name, value]) => ` --${name} ${shellWord(value)}`);
  return (
    <Page title="Rejected" cli={[`posthorn rejected list${flags.join("")}`]} get={[`/rejected?${asked}`]}>
      <PageHead
        title="Rejected requests"
        lede="Requests to a source that were not taken in, and why. The newest of each source are kept."
      />
      <Filters names={FILTERS} filter={filter} />
      {list.live.failure !== undefined && <FailureNotice failure={list.live.failure} />}
      <section class="panel" aria-label="Rejected requests" {...list.hold}>
        <FreshRows of={list} />
        {list.rows.length === 0 && list.live.data !== undefined && (
          <Empty icon="shield" title="Nothing was rejected">
            A request is rejected when its signature does not hold, its time is too far off, or its id came
            before with other bytes.
          </Empty>
        )}
        {list.rows.length > 0 && <RejectedTable requests={list.rows} filters />}
        {list.rows.length > 0 && <ListFoot of={list} noun="request" />}
      </section>
    </Page>
  );
}

interface TableProps {
  readonly requests: readonly RejectedRequest[];
  readonly filters?: boolean;
}

export function RejectedTable({ requests, filters = false }: TableProps): JSX.Element {
  return (
    <div class="table-wrap">
      <table class="table verdicts">
        <thead>
          <tr>
            <th>Verdict</th>
            {filters && <th class="hide-s">Code</th>}
            {filters && <th class="hide-s">Source</th>}
            {filters && <th class="num hide-m">Size</th>}
            <th class="num">When</th>
          </tr>
        </thead>
        <tbody>
          {requests.map(({ id, code, message, source, bodyBytes, receivedAt, diagnosis }) => (
            <tr data-row class="tall" key={id}>
              <td>
                <a class="main-cell" href={rejectedHref(id)} data-open>
                  {verdictWords(code)}
                </a>
                <span class="sub">{oneLine(diagnosis[0] ?? message, 110)}</span>
              </td>
              {filters && <td class="dim hide-s">{code}</td>}
              {filters && (
                <td class="dim hide-s">
                  <CellFilter name="source" value={source} />
                </td>
              )}
              {filters && <td class="num faint hide-m">{byteSize(bodyBytes)}</td>}
              <td class="num dim nowrap">
                <Ago at={receivedAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
