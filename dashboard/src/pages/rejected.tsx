import type { JSX } from "preact";
import type { RejectedRequest } from "posthorn/client";
import { api } from "../api.ts";
import { byteSize, oneLine } from "../format.ts";
import { rejectedHref, shellWord } from "../links.ts";
import { place } from "../location.ts";
import { CellFilter, Chip, FreshRows, ListFoot, useList } from "../parts/list.tsx";
import { Empty, FailureNotice, Page, PageHead } from "../parts/page.tsx";
import { Ago } from "../parts/time.tsx";
import { verdictWords } from "../words.ts";

/** Requests that were not taken in. */
export function Rejected(): JSX.Element {
  const source = place.value.query.get("source") ?? undefined;
  const list = useList(
    `rejected of ${source ?? "all"}`,
    (page) => api.rejected.list({ source, ...page }),
    ({ id }) => id,
  );
  const flag = source === undefined ? "" : ` --source ${shellWord(source)}`;
  return (
    <Page title="Rejected" cli={[`posthorn rejected list${flag}`]}>
      <PageHead
        title="Rejected requests"
        lede="Requests to a source that were not taken in, and why. The newest of each source are kept."
      />
      {source !== undefined && (
        <div class="toolbar">
          <Chip name="source" value={source} />
        </div>
      )}
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
