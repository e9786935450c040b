import type { JSX } from "preact";
import type { Operation, OperationItem } from "posthorn/client";
import { api } from "../../api/api.ts";
import { useLive } from "../../api/live.ts";
import { CopyAs } from "../../parts/copy-as.tsx";
import { CellFilter, Chip, ListFoot, useList } from "../../parts/list.tsx";
import { Loaded, Page, PageHead } from "../../parts/page.tsx";
import { Pager, useWalkKeys } from "../../parts/pager.tsx";
import { Fact, Facts, Panel } from "../../parts/panel.tsx";
import { Badge, State } from "../../parts/state.tsx";
import { Ago } from "../../parts/time.tsx";
import { deliveryHref, eventHref, laneHref } from "../../place/links.ts";
import { hrefOf, place } from "../../place/location.ts";
import { duration, grouped, oneLine, shortId } from "../../words/format.ts";
import type { Look } from "../../words/words.ts";
import { Dock } from "../dead/dock.tsx";
import { operationTitle } from "../dead/operation.ts";
import { operationLook } from "./operation-table.tsx";

/** One operation: what was planned, who ran it, and what came of each item. */
export function OperationPage({ id = "" }: { readonly id?: string }): JSX.Element {
  useWalkKeys();
  const found = useLive(`operation ${id}`, () => api.operations.get(id), { everyMs: 1000 });
  return (
    <Page
      title={found.data === undefined ? "Operation" : operationTitle(found.data)}
      cli={[`posthorn operations show ${id}`]}
      get={[`/operations/${encodeURIComponent(id)}`, `/operations/${encodeURIComponent(id)}/items`]}
    >
      <Loaded of={found} what={`operation ${oneLine(id, 40)}`}>
        {(operation) => <OperationView operation={operation} />}
      </Loaded>
    </Page>
  );
}

function OperationView({ operation }: { readonly operation: Operation }): JSX.Element {
  const { id, plan, by, stoppedBy, note, startedAt, endedAt, plannedAt, rate, node, message } = operation;
  const look = operationLook(operation);
  const took =
    startedAt !== null && endedAt !== null
      ? duration(Date.parse(endedAt) - Date.parse(startedAt))
      : undefined;
  return (
    <>
      <PageHead
        title={operationTitle(operation)}
        crumbs={[["Operations", hrefOf("/operations")]]}
        badge={<Badge look={look} large />}
        lede={oneLine(plan.words, 300)}
      >
        <Pager />
        <CopyAs id={id} get={`/operations/${id}`} cli={`posthorn operations show ${id}`} />
      </PageHead>
      {operation.state !== "planned" && <Dock operation={operation} />}
      <Panel title="What was asked for">
        <div class="pad">
          <Facts>
            <Fact label="By">{oneLine(by.name, 40)}</Fact>
            <Fact label="Started">
              <Ago at={startedAt ?? plannedAt} />
            </Fact>
            {took !== undefined && <Fact label="Took">{took}</Fact>}
            <Fact label="Rate">at most {grouped(rate)} a second</Fact>
            {stoppedBy !== null && <Fact label="Stopped by">{oneLine(stoppedBy.name, 40)}</Fact>}
            {node !== null && (
              <Fact label="Node" mono>
                {oneLine(node, 40)}
              </Fact>
            )}
            {note !== null && <Fact label="Note">{oneLine(note, 300)}</Fact>}
            {message !== null && <Fact label="Failed">{oneLine(message, 300)}</Fact>}
          </Facts>
          {plan.warnings.length > 0 && (
            <ul class="checks after-facts">
              {plan.warnings.map(({ text }) => (
                <li class="s-retrying" key={text}>
                  {oneLine(text, 300)}
                </li>
              ))}
            </ul>
          )}
        </div>
      </Panel>
      {operation.state !== "planned" && <Items id={id} />}
    </>
  );
}

const RESULTS: Readonly<Record<OperationItem["result"], Look>> = {
  pending: { tone: "waiting", icon: "s-waiting", word: "under way" },
  in_place: { tone: "landed", icon: "s-landed", word: "due again, in its place" },
  at_end: { tone: "landed", icon: "s-landed", word: "due again, at the end" },
  before: { tone: "disabled", icon: "s-silent", word: "redriven before" },
  skipped: { tone: "landed", icon: "s-landed", word: "skipped" },
  intended: { tone: "retrying", icon: "s-failing", word: "was under way; left" },
  cancelled: { tone: "landed", icon: "s-landed", word: "cancelled" },
  staged: { tone: "landed", icon: "s-landed", word: "to be handled again" },
  not_applied: { tone: "retrying", icon: "s-failing", word: "not applied; left" },
  not_stored: { tone: "retrying", icon: "s-failing", word: "not stored; left" },
  no_worker: { tone: "retrying", icon: "s-failing", word: "no worker; left" },
  unknown: { tone: "retrying", icon: "s-failing", word: "had changed; left" },
};

function Items({ id }: { readonly id: string }): JSX.Element {
  const result = place.value.query.get("result") ?? undefined;
  const list = useList(
    `items ${id} ${result ?? ""}`,
    (page) => api.operations.items(id, { result, ...page }),
    ({ number }) => String(number),
  );
  return (
    <section class="panel" aria-label="Items" {...list.hold}>
      <header>
        <h2>Each item</h2>
        {result !== undefined && (
          <span class="end">
            <Chip name="result" value={oneLine(result, 30)} />
          </span>
        )}
      </header>
      <div class="table-wrap">
        <table class="table">
          <thead>
            <tr>
              <th class="num">#</th>
              <th>Delivery</th>
              <th>Result</th>
              <th class="hide-s">Event</th>
              <th class="num hide-s">When</th>
            </tr>
          </thead>
          <tbody>
            {list.rows.map((item) => (
              <ItemRow item={item} key={item.number} />
            ))}
          </tbody>
        </table>
      </div>
      <ListFoot of={list} noun="item" />
    </section>
  );
}

function ItemRow({ item }: { readonly item: OperationItem }): JSX.Element {
  const { number, deliveryId, laneId, eventId, result, at, count: n } = item;
  const look = RESULTS[result] ?? RESULTS.unknown;
  return (
    <tr data-row>
      <td class="num faint">{number}</td>
      <td class="mono">
        {deliveryId !== null ? (
          <a href={deliveryHref(deliveryId)} data-open>
            {oneLine(deliveryId, 40)}
          </a>
        ) : (
          laneId !== null && <a href={laneHref(laneId)}>lane {laneId}</a>
        )}
      </td>
      <td>
        <CellFilter name="result" value={result}>
          <State look={look}>
            {look.word}
            {n > 1 && `, ${grouped(n)}`}
          </State>
        </CellFilter>
      </td>
      <td class="mono hide-s">
        {eventId !== null && eventId !== "" && (
          <a href={eventHref(eventId, "default")}>{shortId(oneLine(eventId))}</a>
        )}
      </td>
      <td class="num dim nowrap hide-s">{at !== null && <Ago at={at} />}</td>
    </tr>
  );
}
