import type { JSX } from "preact";
import type { Consumer } from "posthorn/client";
import { api } from "../../api/api.ts";
import { useLive } from "../../api/live.ts";
import { Act, Copy } from "../../parts/act.tsx";
import { Shape } from "../../parts/icon.tsx";
import { Empty, Loaded, Page, PageHead } from "../../parts/page.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Badge } from "../../parts/state.tsx";
import { Ago, Clock } from "../../parts/time.tsx";
import { consumerHref, shellWord } from "../../place/links.ts";
import { hrefOf } from "../../place/location.ts";
import { perform } from "../../shell/deeds.ts";
import { count, duration, grouped, oneLine } from "../../words/format.ts";
import { ORDER_WORDS } from "../../words/words.ts";
import { InboxTable } from "../inbox/inbox-table.tsx";
import { LaneTable } from "../lanes/lane-table.tsx";
import { consumerLook } from "./consumer-look.ts";
import { sourceWords } from "./consumer-table.tsx";
import { pauseConsumer, pausedByWords, resumeConsumer } from "./pause.tsx";
import { removeConsumer } from "./remove.tsx";

/** One handler: whether a worker has it, what waits for it, its lanes, and what it has handled last. */
export function ConsumerPage({ id = "" }: { readonly id?: string }): JSX.Element {
  const all = useLive("consumers of all", () => api.consumers.list());
  const word = shellWord(id);
  return (
    <Page
      title={oneLine(id, 60)}
      cli={[
        "posthorn consumers list",
        `posthorn consumers retry ${word}`,
        `posthorn consumers pause ${word} --for 1h`,
        `posthorn consumers remove ${word}`,
        `posthorn inbox list --consumer ${word}`,
      ]}
      get={["/consumers", `/inbox?consumer=${encodeURIComponent(id)}`]}
    >
      <Loaded of={all} what={`consumer ${oneLine(id, 60)}`}>
        {({ items }) => {
          const found = items.find((each) => each.id === id);
          return found === undefined ? <NoSuchConsumer id={id} /> : <Shown consumer={found} />;
        }}
      </Loaded>
    </Page>
  );
}

function NoSuchConsumer({ id }: { readonly id: string }): JSX.Element {
  return (
    <Empty
      icon="search"
      title={`No worker has registered ${oneLine(id, 60)}`}
      act={
        <a class="btn" href={hrefOf("/consumers")}>
          Look at all consumers
        </a>
      }
    >
      A handler that runs within its request is registered nowhere:{" "}
      <a href={hrefOf("/inbox", { consumer: id })}>the inbox has what it handled</a>.
    </Empty>
  );
}

function Shown({ consumer }: { readonly consumer: Consumer }): JSX.Element {
  const { id } = consumer;
  const lanes = useLive(`lanes of ${id}`, () => api.lanes.list({ endpoint: id, limit: 8 }));
  const rows = useLive(`inbox of ${id}`, () => api.inbox.list({ consumer: id, limit: 8 }));
  return (
    <>
      <Head consumer={consumer} />
      <Tabs consumer={consumer} />
      <Trouble consumer={consumer} />
      <Figures consumer={consumer} />
      <Panel title="Its lanes" end={<All href={hrefOf("/lanes", { endpoint: id })} />}>
        {lanes.data?.items.length === 0 && (
          <Empty icon="lanes" title="Nothing waits for it">
            Everything that came for it was handled, or given up.
          </Empty>
        )}
        {(lanes.data?.items.length ?? 0) > 0 && <LaneTable lanes={lanes.data?.items ?? []} />}
      </Panel>
      <Panel title="Handled last" end={<All href={hrefOf("/inbox", { consumer: id })} />}>
        {rows.data?.items.length === 0 && (
          <Empty icon="inbox" title="It has ended with no event yet">
            A row is written together with the handler’s own writes.
          </Empty>
        )}
        {(rows.data?.items.length ?? 0) > 0 && <InboxTable rows={rows.data?.items ?? []} />}
      </Panel>
      <Versions consumer={consumer} />
    </>
  );
}

function All({ href }: { readonly href: string }): JSX.Element {
  return (
    <a class="link" href={href}>
      All of them
    </a>
  );
}

function Head({ consumer }: { readonly consumer: Consumer }): JSX.Element {
  const { id, sources, order, retryingLanes } = consumer;
  const retry = (): Promise<boolean> =>
    perform(async () => {
      const { retried } = await api.consumers.retry(id);
      return retried === 0 ? "Nothing has failed and waits there." : `${count(retried, "delivery")} due now.`;
    });
  const because = retryingLanes === 0 ? "Nothing has failed and waits for its next attempt." : undefined;
  return (
    <PageHead
      title={
        <>
          {oneLine(id, 60)} <Copy text={id} what="the id" />
        </>
      }
      crumbs={[["Consumers", hrefOf("/consumers")]]}
      badge={<Badge look={consumerLook(consumer)} large />}
      lede={`Gets the events ${sourceWords(sources)}; ${ORDER_WORDS[order][1]}.`}
    >
      <Act
        icon="redrive"
        because={because}
        title="All that has failed and waits for its next attempt is due now"
        onAct={retry}
      >
        Retry now
      </Act>
      {consumer.state === "active" ? (
        <Act icon="pause" onAct={() => pauseConsumer(consumer)}>
          Pause…
        </Act>
      ) : (
        <Act kind="primary" icon="play" onAct={() => resumeConsumer(consumer)}>
          {consumer.state === "paused" ? "Resume" : "Enable"}
        </Act>
      )}
      <Act
        kind="danger"
        icon="cancel"
        because={
          consumer.hasWorker ? "A worker has it, and would register it again. Stop it first." : undefined
        }
        onAct={() => removeConsumer(consumer)}
      >
        Remove…
      </Act>
    </PageHead>
  );
}

/** The lists of this consumer alone. */
function Tabs({ consumer }: { readonly consumer: Consumer }): JSX.Element {
  const { id, haltedLanes, dead } = consumer;
  return (
    <nav class="tabs" aria-label="Of this consumer">
      <a href={consumerHref(id)} aria-current="page">
        Standing
      </a>
      <a href={hrefOf("/lanes", { endpoint: id })}>
        Lanes {haltedLanes > 0 && <span class="n s-halted">{haltedLanes} halted</span>}
      </a>
      <a href={hrefOf("/dead", { endpoint: id })}>
        Dead letters {dead > 0 && <span class="n s-dead">{grouped(dead)}</span>}
      </a>
      <a href={hrefOf("/inbox", { consumer: id })}>Inbox</a>
    </nav>
  );
}

/** Why nothing moves there, and what to do. A consumer may be paused, and have no worker besides. */
function Trouble({ consumer }: { readonly consumer: Consumer }): JSX.Element {
  return (
    <>
      <Gone consumer={consumer} />
      <Stopped consumer={consumer} />
    </>
  );
}

function Gone({ consumer }: { readonly consumer: Consumer }): JSX.Element | null {
  const { hasWorker, seenAt, waiting } = consumer;
  if (hasWorker) return null;
  return (
    <div class={`notice ${waiting > 0 ? "s-halted" : "s-retrying"}`}>
      <Shape name="s-failing" />
      <div>
        <b>No worker has this handler now.</b>{" "}
        {seenAt !== null && (
          <>
            The last one said so <Ago at={seenAt} />.{" "}
          </>
        )}
        Start a process whose createWorker has it.{" "}
        {waiting > 0 ? "What waits is handled then, in order." : "Nothing waits for it yet."} If it was
        renamed or deleted in your code, remove it here: events would wait for it for ever.
      </div>
    </div>
  );
}

function Stopped({ consumer }: { readonly consumer: Consumer }): JSX.Element | null {
  const { state, because, pausedUntil } = consumer;
  if (state === "active") return null;
  return (
    <div class="notice s-paused">
      <Shape name="s-paused" />
      <div>
        <b>{state === "paused" ? `It is paused ${pausedByWords(consumer)}` : "It is disabled"}</b>
        {pausedUntil === null ? (
          ", until somebody resumes it"
        ) : (
          <>
            , and goes on by itself <Ago at={pausedUntil} />
          </>
        )}
        {because === null ? "." : `: ${oneLine(because, 300)}`}
      </div>
    </div>
  );
}

function Figures({ consumer }: { readonly consumer: Consumer }): JSX.Element {
  const { id, waiting, exact, oldestMs, dead, haltedLanes, parkedLanes, retryingLanes, seenAt, hasWorker } =
    consumer;
  const lanes = hrefOf("/lanes", { endpoint: id });
  const blocked = haltedLanes + parkedLanes;
  return (
    <section class="stats four bare" aria-label="Figures">
      <Stat label="Worker" href={hrefOf("/inbox", { consumer: id })} value={hasWorker ? "there" : "none"}>
        {seenAt === null ? (
          "none has ever said so"
        ) : (
          <>
            seen <Ago at={seenAt} />
          </>
        )}
      </Stat>
      <Stat label="Waiting" href={lanes} value={`${grouped(waiting)}${exact ? "" : "+"}`}>
        {waiting === 0 || oldestMs === null ? "every lane is empty" : `oldest ${duration(oldestMs)}`}
      </Stat>
      <Stat label="Blocked lanes" href={lanes} value={grouped(blocked)}>
        {retryingLanes === 0 ? "none is retrying" : `${count(retryingLanes, "other")} retrying`}
      </Stat>
      <Stat label="Dead letters" href={hrefOf("/dead", { endpoint: id })} value={grouped(dead)}>
        {dead === 0 ? "nothing was given up" : "redrive or skip them"}
      </Stat>
    </section>
  );
}

interface StatProps {
  readonly label: string;
  readonly href: string;
  readonly value: string;
  readonly children: JSX.Element | string;
}

function Stat({ label, href, value, children }: StatProps): JSX.Element {
  return (
    <a class="stat" href={href}>
      <span class="label">{label}</span>
      <span class="figure">{value}</span>
      <span class="delta">{children}</span>
    </a>
  );
}

/** What versions of the host have said that they handle: more than one during a deploy. */
function Versions({ consumer }: { readonly consumer: Consumer }): JSX.Element {
  const { versions } = consumer;
  return (
    <Panel
      title="Handles"
      end={versions.length > 1 ? `${count(versions.length, "version")} of the application` : ""}
    >
      <div class="table-wrap">
        <table class="table">
          <thead>
            <tr>
              <th>Sources</th>
              <th>Types</th>
              <th class="num">Registered</th>
            </tr>
          </thead>
          <tbody>
            {versions.map(({ sources, types, at }) => (
              <tr key={`${at} ${sources.join(" ")} ${types.join(" ")}`}>
                <td class="wrap">{sources.map((source) => oneLine(source, 60)).join(", ")}</td>
                <td class="wrap">{types.map((type) => oneLine(type, 60)).join(", ")}</td>
                <td class="num dim nowrap">
                  <Clock at={at} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
