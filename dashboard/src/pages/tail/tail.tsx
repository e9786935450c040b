import type { JSX } from "preact";
import type { TailKind, TailMessage, TailQuery } from "posthorn/client";
import { paused } from "../../api/live.ts";
import { Act } from "../../parts/act.tsx";
import { Filters, filtersIn } from "../../parts/filters.tsx";
import { Icon } from "../../parts/icon.tsx";
import { CellFilter } from "../../parts/list.tsx";
import { Empty, FailureNotice, Page, PageHead } from "../../parts/page.tsx";
import { State } from "../../parts/state.tsx";
import { Clock } from "../../parts/time.tsx";
import { endpointHref, eventHref, shellWord } from "../../place/links.ts";
import { hrefOf } from "../../place/location.ts";
import { count, duration, oneLine, shortId } from "../../words/format.ts";
import { answerWords, becauseWords, verdictWords } from "../../words/words.ts";
import type { Look } from "../../words/words.ts";
import { useTail } from "./follow.ts";
import type { Followed } from "./follow.ts";
import type { TailRow } from "./tail-rows.ts";

const FILTERS = ["kind", "source", "endpoint", "type"] as const;

/** What happens, as it happens. */
export function TailPage(): JSX.Element {
  const filter = filtersIn(FILTERS);
  const { kind, ...rest } = filter;
  const query: TailQuery = { ...rest, ...(kind !== undefined && { kind: kind.split(",") as TailKind[] }) };
  const followed = useTail(query);
  const flags = Object.entries(filter).map(([name, value]) => ` --${name} ${shellWord(value)}`);
  const asked = new URLSearchParams(filter).toString();
  return (
    <Page title="Tail" cli={[`posthorn tail${flags.join("")}`]} get={[`/tail?${asked}`]}>
      <PageHead
        title="Tail"
        badge={<Connection followed={followed} />}
        lede="What happens on the node that answers, as it happens. The newest 500 stay."
      >
        <Act
          harmless
          icon={paused.value ? "play" : "pause"}
          onAct={() => void (paused.value = !paused.value)}
        >
          {paused.value ? `Go on${followed.waiting > 0 ? `, ${followed.waiting} new` : ""}` : "Pause"}
        </Act>
        <Act harmless kind="quiet" onAct={() => followed.clear()}>
          Clear
        </Act>
      </PageHead>
      <Filters names={FILTERS} filter={filter} />
      {followed.failure !== undefined && <FailureNotice failure={followed.failure} />}
      <section class="panel" aria-label="What happens">
        {followed.rows.length === 0 ? <Quiet open={followed.open} /> : <Rows rows={followed.rows} />}
      </section>
    </Page>
  );
}

function Connection({ followed: { open } }: { readonly followed: Followed }): JSX.Element {
  if (paused.value) return <State look={{ tone: "paused", icon: "s-paused", word: "paused" }} />;
  return open ? (
    <State look={{ tone: "landed", icon: "s-active", word: "live" }} />
  ) : (
    <State look={{ tone: "retrying", icon: "s-retrying", word: "connecting" }} />
  );
}

function Quiet({ open }: { readonly open: boolean }): JSX.Element {
  return (
    <Empty
      icon="tail"
      title={open ? "Quiet" : "Connecting"}
      act={
        <a class="btn" href={hrefOf("/compose")}>
          Compose an event
        </a>
      }
    >
      Events that are stored, attempts and what is given up appear here at once.
    </Empty>
  );
}

function Rows({ rows }: { readonly rows: readonly TailRow[] }): JSX.Element {
  return (
    <div class="table-wrap">
      <table class="table tail" aria-live="off">
        <thead>
          <tr>
            <th>Time</th>
            <th>What</th>
            <th>Type</th>
            <th class="hide-s">Event</th>
            <th>Where</th>
            <th class="hide-m">Result</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) =>
            row.kind === "gap" ? (
              <tr class="fold" key={row.n}>
                <td colSpan={6}>
                  {row.lost === null ? "Some were" : `${count(row.lost, "message")} were`} missed in between.
                </td>
              </tr>
            ) : (
              <MessageRow message={row} key={row.n} />
            ),
          )}
        </tbody>
      </table>
    </div>
  );
}

const LOOKS: Readonly<Record<TailKind, Look>> = {
  stored: { tone: "waiting", icon: "s-active", word: "stored" },
  published: { tone: "waiting", icon: "s-active", word: "published" },
  duplicate: { tone: "disabled", icon: "s-silent", word: "duplicate" },
  conflict: { tone: "retrying", icon: "s-failing", word: "conflict" },
  rejected: { tone: "retrying", icon: "s-disabled", word: "rejected" },
  attempted: { tone: "halted", icon: "s-attempt", word: "failed" },
  dead: { tone: "dead", icon: "s-dead", word: "dead" },
  endpoint_disabled: { tone: "disabled", icon: "s-disabled", word: "disabled" },
};

function lookOf({ kind, outcome }: TailMessage): Look {
  if (kind === "attempted" && outcome === "acknowledged")
    return { tone: "landed", icon: "s-landed", word: "landed" };
  return LOOKS[kind] ?? { tone: "disabled", icon: "s-silent", word: kind };
}

function MessageRow({ message }: { readonly message: TailMessage }): JSX.Element {
  const { at, kind, type, eventId, source, endpointId } = message;
  return (
    <tr data-row>
      <td class="mono dim nowrap">
        <Clock at={at} />
      </td>
      <td>
        <CellFilter name="kind" value={kind}>
          <State look={lookOf(message)} />
        </CellFilter>
      </td>
      <td>
        {type !== null && type !== "" && (
          <CellFilter name="type" value={type}>
            {oneLine(type, 40)}
          </CellFilter>
        )}
        <span class="sub mono only-s">{eventId === null ? "" : shortId(oneLine(eventId))}</span>
      </td>
      <td class="mono nowrap hide-s">
        {eventId !== null && (
          <a href={eventHref(eventId, "default")} data-open>
            {shortId(oneLine(eventId))}
          </a>
        )}
      </td>
      <td>
        {endpointId !== null ? (
          <a href={endpointHref(endpointId)}>{oneLine(endpointId, 30)}</a>
        ) : (
          source !== null && (
            <CellFilter name="source" value={source}>
              {oneLine(source, 30)}
            </CellFilter>
          )
        )}
      </td>
      <td class="dim hide-m">
        <span class="cut">{resultOf(message)}</span>
        {kind === "endpoint_disabled" && <Icon name="right" class="sm" />}
      </td>
    </tr>
  );
}

function resultOf({ kind, attempt, status, error, durationMs, because, code }: TailMessage): string {
  if (kind === "attempted")
    return oneLine(
      `${answerWords(status, error)} in ${duration(durationMs ?? 0)}, attempt ${attempt ?? 1}`,
      80,
    );
  if (because !== null) return oneLine(becauseWords(because), 60);
  return code === null ? "" : oneLine(verdictWords(code), 60);
}
