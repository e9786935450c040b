import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { EventSummary, RejectedRequest, Source as SourceRecord, SourceUpdate } from "posthorn/client";
import { api } from "../../api/api.ts";
import { confirmed, perform } from "../../shell/deeds.ts";
import { count, duration, oneLine } from "../../words/format.ts";
import { useLive } from "../../api/live.ts";
import { hrefOf, navigate } from "../../place/location.ts";
import { Act, Copy } from "../../parts/act.tsx";
import { Field } from "../../parts/field.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Empty, Loaded, Page, PageHead } from "../../parts/page.tsx";
import { Panel, Setting } from "../../parts/panel.tsx";
import { Ago } from "../../parts/time.tsx";
import { shellWord } from "../../place/links.ts";
import { providerOf } from "./providers.ts";
import { triggerLine } from "./trigger-line.ts";
import { EventTable } from "../events/event-table.tsx";
import { RejectedTable } from "../rejected/rejected.tsx";
import { SourceHealth } from "./source-health.tsx";
import { addressOf } from "./sources.tsx";

/** One source: its address, what came, what was rejected, its settings. */
export function SourcePage({ name = "" }: { readonly name?: string }): JSX.Element {
  const found = useLive(`source ${name}`, async () => {
    const [source, events, rejected] = await Promise.all([
      api.sources.get(name),
      api.events.list({ source: name, limit: 6 }),
      api.rejected.list({ source: name, limit: 6 }),
    ]);
    return { source, events: events.items, rejected: rejected.items };
  });
  return (
    <Page
      title={name}
      cli={[
        `posthorn source show ${shellWord(name)}`,
        ...(found.data === undefined ? [] : [triggerLine(found.data.source)]),
      ]}
      get={[`/sources/${encodeURIComponent(name)}`]}
    >
      <Loaded of={found} what={`source ${oneLine(name, 60)}`}>
        {({ source, events, rejected }) => (
          <>
            <PageHead
              title={source.name}
              crumbs={[["Sources", hrefOf("/sources")]]}
              lede={`${providerOf(source.scheme).title} sends, Posthorn checks its signature and stores each event once.`}
            >
              <a class="btn" href={hrefOf("/compose", { source: source.name })}>
                <Icon name="send" />
                Send a sample…
              </a>
              <Act kind="danger" icon="cancel" onAct={() => remove(source.name)}>
                Remove…
              </Act>
            </PageHead>
            <Address source={source} />
            <SourceHealth name={source.name} />
            <Recents source={source} events={events} rejected={rejected} />
            <Settings source={source} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

interface RecentsProps {
  readonly source: SourceRecord;
  readonly events: readonly EventSummary[];
  readonly rejected: readonly RejectedRequest[];
}

function Recents({ source, events, rejected }: RecentsProps): JSX.Element {
  const all = (path: string): JSX.Element => (
    <a class="link" href={hrefOf(path, { source: source.name })}>
      All of them
    </a>
  );
  return (
    <div class="cols-half">
      <Panel title="Newest events" end={all("/events")}>
        {events.length === 0 ? (
          <Empty icon="events" title="None yet">
            Give the address to {providerOf(source.scheme).title}, and send a test from there.
          </Empty>
        ) : (
          <EventTable rows={events} />
        )}
      </Panel>
      <Panel title="Rejected" end={all("/rejected")}>
        {rejected.length === 0 ? (
          <Empty icon="shield" title="None">
            Every request had a signature that holds.
          </Empty>
        ) : (
          <RejectedTable requests={rejected} />
        )}
      </Panel>
    </div>
  );
}

function Address({ source }: { readonly source: SourceRecord }): JSX.Element {
  const address = addressOf(source);
  return (
    <Panel>
      <div class="pad pt done-line">
        <span class="small dim">
          {providerOf(source.scheme).where ?? "Give this address to whoever sends:"}
        </span>
        <span class="paste">
          <code>{address}</code>
          <Copy text={address} what="the address" />
        </span>
      </div>
    </Panel>
  );
}

async function remove(name: string): Promise<void> {
  const yes = await confirmed({
    title: `Remove ${name}?`,
    body: (
      <p>
        <b>What its provider sends from now on is not taken in.</b> Events that came stay, and are still
        delivered. Its rejected requests go with it.
      </p>
    ),
    act: `Remove ${name}`,
    danger: true,
  });
  if (!yes) return;
  await perform(async () => {
    await api.sources.remove(name);
    navigate(hrefOf("/sources"));
    return `${name} is removed.`;
  });
}

function Settings({ source }: { readonly source: SourceRecord }): JSX.Element {
  const { key, dedup, windowS, secretCount, forwardHeaders, tenant, createdAt } = source;
  const [editing, setEditing] = useState(false);
  return (
    <Panel
      title="Settings in force"
      end={
        !editing && (
          <Act small icon="edit" onAct={() => setEditing(true)}>
            Edit
          </Act>
        )
      }
    >
      <div class="pad">
        {editing && <Edit source={source} onDone={() => setEditing(false)} />}
        <dl class="kv kv-2">
          <Setting
            label="In order by"
            why={key === null ? "its events have no order" : "events of one key never overtake each other"}
          >
            <span class="mono">{keyWords(key)}</span>
          </Setting>
          <Setting label="Duplicates" why={`known for ${duration(windowS * 1000)}`}>
            by {dedup.by === "both" ? "id or content" : dedup.by}
          </Setting>
          <Setting label="Secrets" why="each is tried for every request">
            {count(secretCount, "secret")}
          </Setting>
          <Setting label="Headers sent on">
            {forwardHeaders.length === 0
              ? "none"
              : forwardHeaders.map((each) => oneLine(each, 40)).join(", ")}
          </Setting>
          <Setting label="Tenant">{oneLine(tenant, 60)}</Setting>
          <Setting label="Added">
            <Ago at={createdAt} />
          </Setting>
        </dl>
      </div>
    </Panel>
  );
}

function keyWords(key: SourceRecord["key"]): string {
  if (key === null) return "nothing";
  return "json" in key ? oneLine(key.json, 80) : `header ${oneLine(key.header, 60)}`;
}

function Edit({
  source,
  onDone,
}: {
  readonly source: SourceRecord;
  readonly onDone: () => void;
}): JSX.Element {
  const before = source.key !== null && "json" in source.key ? source.key.json : "";
  const [pointer, setPointer] = useState(before);
  const [secret, setSecret] = useState("");
  const change: SourceUpdate = {
    ...(pointer.trim() !== before && { key: pointer.trim() === "" ? null : { json: pointer.trim() } }),
    ...(secret.trim() !== "" && { secrets: [secret.trim()] }),
  };
  const save = async (): Promise<void> => {
    const done = await perform(async () => {
      await api.sources.update(source.name, change);
      return `${source.name} is changed.`;
    });
    if (done) onDone();
  };
  return (
    <form class="form edit" onSubmit={(event) => event.preventDefault()}>
      <div class="two">
        <Field
          label="In order by"
          mono
          value={pointer}
          onValue={setPointer}
          placeholder="/data/object/customer"
          hint="A JSON pointer; empty for no order. It counts for events from now on."
        />
        <Field
          label="New secret"
          mono
          value={secret}
          onValue={setSecret}
          hint="Replaces all secrets. Leave it empty to keep them; the CLI can add one beside the old."
        />
      </div>
      <div class="btns">
        <Act
          kind="primary"
          type="submit"
          because={Object.keys(change).length === 0 ? "Nothing has changed." : undefined}
          onAct={save}
        >
          Save {source.name}
        </Act>
        <Act kind="quiet" harmless onAct={onDone}>
          Cancel
        </Act>
      </div>
    </form>
  );
}
