import type { JSX } from "preact";
import type { AuditEntry } from "posthorn/client";
import { api } from "../../api/api.ts";
import { Filters, filtersIn } from "../../parts/filters.tsx";
import { Icon } from "../../parts/icon.tsx";
import { CellFilter, FreshRows, ListFoot, useList } from "../../parts/list.tsx";
import { Empty, FailureNotice, Page, PageHead } from "../../parts/page.tsx";
import { State } from "../../parts/state.tsx";
import { Ago, Clock } from "../../parts/time.tsx";
import { place, setQuery } from "../../place/location.ts";
import { lineDiff } from "../../words/line-diff.ts";
import { oneLine } from "../../words/format.ts";

const FILTERS = ["subject", "action", "kind", "actor", "since", "until"] as const;

/** Who changed what, before and after. */
export function Audit(): JSX.Element {
  const filter = filtersIn(FILTERS);
  const asked = new URLSearchParams(filter).toString();
  const list = useList(
    `audit?${asked}`,
    (page) => api.audit.list({ ...filter, ...page }),
    ({ id }) => id,
  );
  const open = place.value.query.get("open") ?? "";
  return (
    <Page title="Audit" cli={["posthorn audit list"]} get={[`/audit?${asked}`]}>
      <PageHead
        title="Audit"
        lede="Every change by the API, the command line and this page: who, when, before and after. No secrets."
      />
      <Filters names={FILTERS} filter={filter} />
      {list.live.failure !== undefined && <FailureNotice failure={list.live.failure} />}
      <section class="panel" aria-label="Changes" {...list.hold}>
        <FreshRows of={list} />
        {list.rows.length === 0 && list.live.data !== undefined ? (
          <Empty icon="audit" title={asked === "" ? "Nothing was changed yet" : "No change fits"}>
            Sources, endpoints, tokens, redrives, skips and operations are written down here.
          </Empty>
        ) : (
          <AuditTable entries={list.rows} open={open} />
        )}
        {list.rows.length > 0 && <ListFoot of={list} noun="change" />}
      </section>
    </Page>
  );
}

interface TableProps {
  readonly entries: readonly AuditEntry[];
  readonly open: string;
}

function AuditTable({ entries, open }: TableProps): JSX.Element {
  return (
    <div class="table-wrap">
      <table class="table">
        <thead>
          <tr>
            <th>What</th>
            <th class="hide-s">Of</th>
            <th class="hide-s">Who</th>
            <th class="hide-s">Result</th>
            <th class="num">When</th>
            <th class="num">
              <span class="sr">Before and after</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <EntryRow entry={entry} open={entry.id === open} key={entry.id} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function EntryRow({ entry, open }: { readonly entry: AuditEntry; readonly open: boolean }): JSX.Element {
  const { id, at, by, action, subject, status, note } = entry;
  const toggle = (): void => setQuery({ open: open ? undefined : id });
  return (
    <>
      <tr data-row class={note === null ? "" : "tall"} aria-selected={open}>
        <td>
          <CellFilter name="action" value={action}>
            {action.replace(".", " · ").replaceAll("_", " ")}
          </CellFilter>
          {note !== null && <span class="sub">{oneLine(note, 100)}</span>}
          <span class="sub only-s">
            {oneLine(subject.id ?? "", 24)} · {oneLine(by.name, 16)}
          </span>
        </td>
        <td class="mono hide-s">
          {subject.id !== null && (
            <CellFilter name="subject" value={subject.id}>
              {oneLine(subject.id, 36)}
            </CellFilter>
          )}
        </td>
        <td class="hide-s">
          <CellFilter name="actor" value={by.token}>
            {oneLine(by.name, 30)}
          </CellFilter>
        </td>
        <td class="hide-s">
          <Result status={status} />
        </td>
        <td class="num dim nowrap">
          <Ago at={at} />
        </td>
        <td class="num">
          <button class="btn sm quiet" type="button" aria-expanded={open} onClick={toggle}>
            <Icon name={open ? "down" : "right"} class="sm" />
            <span class="sr">{open ? "Hide" : "Show"} what changed</span>
          </button>
        </td>
      </tr>
      {open && (
        <tr class="opened">
          <td colSpan={6}>
            <Change entry={entry} />
          </td>
        </tr>
      )}
    </>
  );
}

function Result({ status }: { readonly status: number | null }): JSX.Element {
  if (status === null) return <State look={{ tone: "retrying", icon: "s-failing", word: "not known" }} />;
  return status < 400 ? (
    <State look={{ tone: "landed", icon: "s-landed", word: "done" }} />
  ) : (
    <State look={{ tone: "disabled", icon: "s-disabled", word: `refused, ${status}` }} />
  );
}

const MARKS = { same: " ", del: "−", add: "+" } as const;

function linesOf(value: AuditEntry["before"]): readonly string[] {
  return value === null ? [] : JSON.stringify(value, null, 2).split("\n");
}

/** Before and after as one text: what went is red, what came is green. */
function Change({ entry }: { readonly entry: AuditEntry }): JSX.Element {
  const { before, after, at, requestId, by } = entry;
  const lines = lineDiff(linesOf(before), linesOf(after)) ?? [];
  return (
    <div class="change">
      <p class="small faint">
        <Clock at={at} />, by {oneLine(by.name, 40)} with {by.via === "session" ? "this page" : "a token"},
        request <span class="mono">{oneLine(requestId, 60)}</span>
      </p>
      {before === null && after === null ? (
        <p class="small">It has no state of its own to compare.</p>
      ) : (
        <pre class="code" tabIndex={0} aria-label="What changed">
          {lines.map(({ kind, text: line }, n) => (
            <span class={`ln ${kind === "same" ? "" : kind}`} data-n={MARKS[kind]} key={n}>
              <span>{oneLine(line, 500)}</span>
            </span>
          ))}
        </pre>
      )}
    </div>
  );
}
