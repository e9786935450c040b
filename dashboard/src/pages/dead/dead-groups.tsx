import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { DeadGroup } from "posthorn/client";
import { api } from "../../api/api.ts";
import { useStatus } from "../../api/status.ts";
import { Act } from "../../parts/act.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Panel } from "../../parts/panel.tsx";
import { State } from "../../parts/state.tsx";
import { Tick } from "../../parts/tick.tsx";
import { Ago } from "../../parts/time.tsx";
import { endpointHref } from "../../place/links.ts";
import { setQuery } from "../../place/location.ts";
import { perform } from "../../shell/deeds.ts";
import { count, grouped, oneLine } from "../../words/format.ts";
import { groupReason } from "./dead-filter.ts";

interface GroupTableProps {
  readonly groups: readonly DeadGroup[];
  readonly chosen: readonly string[];
  readonly setChosen: (ids: readonly string[]) => void;
}

function sum(some: readonly DeadGroup[]): number {
  return some.reduce((all, { count: n }) => all + n, 0);
}

/** Why they died, and where: counted by the server, however many there are. */
export function GroupTable({ groups, chosen, setChosen }: GroupTableProps): JSX.Element | null {
  if (groups.length === 0) return null;
  const selected = groups.filter(({ id }) => chosen.includes(id));
  const toggle = (id: string): void =>
    setChosen(chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id]);
  const all = selected.length === groups.length;
  const title =
    selected.length === 0
      ? `${count(groups.length, "group")}, ${count(sum(groups), "delivery")}`
      : `${selected.length} of ${count(groups.length, "group")} selected, ${grouped(sum(selected))} of ${count(sum(groups), "delivery")}`;
  return (
    <Panel title="By reason" end={title} class={selected.length > 0 ? "chosen" : ""}>
      <div class="table-wrap">
        <table class="table">
          <thead>
            <tr>
              <th class="check">
                <Tick
                  label="Select all groups"
                  on={all}
                  onToggle={() => setChosen(all ? [] : groups.map(({ id }) => id))}
                />
              </th>
              <th>Reason</th>
              <th class="num">Dead</th>
              <th class="hide-s">Lanes of the endpoint</th>
              <th class="num hide-m">First</th>
              <th class="num">Last</th>
            </tr>
          </thead>
          <tbody>
            {groups.map((group) => (
              <GroupRow
                group={group}
                on={chosen.includes(group.id)}
                onToggle={() => toggle(group.id)}
                key={group.id}
              />
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

interface GroupRowProps {
  readonly group: DeadGroup;
  readonly on: boolean;
  readonly onToggle: () => void;
}

function GroupRow({ group, on, onToggle }: GroupRowProps): JSX.Element {
  const { endpointId, because, status, error, firstAt, lastAt, count: n } = group;
  const reason = groupReason(group);
  const only = (): void =>
    setQuery({
      endpoint: endpointId,
      because,
      status: status === null ? "none" : String(status),
      error: error ?? "none",
    });
  return (
    <tr data-row class="tall" aria-selected={on}>
      <td class="check">
        <Tick label={`Select ${reason} at ${oneLine(endpointId, 40)}`} on={on} onToggle={onToggle} />
      </td>
      <td>
        <button class="cell-filter main-cell" type="button" title="Only these" onClick={only}>
          {oneLine(reason, 60)}
        </button>
        <span class="sub">
          <a href={endpointHref(endpointId)}>{oneLine(endpointId, 40)}</a>
          <Note group={group} />
        </span>
      </td>
      <td class="num">
        <b>{grouped(n)}</b>
      </td>
      <td class="hide-s">
        <LanesState endpointId={endpointId} />
      </td>
      <td class="num dim nowrap hide-m">
        <Ago at={firstAt} />
      </td>
      <td class="num dim nowrap">
        <Ago at={lastAt} />
      </td>
    </tr>
  );
}

/** Whether lanes wait for a decision, or went on without what died. */
function LanesState({ endpointId }: { readonly endpointId: string }): JSX.Element {
  const { endpoints = [], consumers = [] } = useStatus().data ?? {};
  const standing = [...endpoints, ...consumers].find(({ id }) => id === endpointId);
  const halted = standing?.haltedLanes ?? 0;
  if (halted === 0) return <State look={{ tone: "landed", icon: "s-landed", word: "went on" }} />;
  return (
    <State look={{ tone: "halted", icon: "s-halted", word: "" }}>
      {count(halted, "lane")} halted, {grouped(standing?.waiting ?? 0)} wait
    </State>
  );
}

/** What somebody knows about it, for whoever looks next. */
function Note({ group }: { readonly group: DeadGroup }): JSX.Element {
  const [text, setText] = useState<string | undefined>();
  const { note, id } = group;
  if (text === undefined) {
    return (
      <button class="note" type="button" onClick={() => setText(note?.text ?? "")}>
        <Icon name="note" class="sm" />
        {note === null ? "Add a note" : `${oneLine(note.by, 20)}: ${oneLine(note.text, 120)}`}
      </button>
    );
  }
  const save = async (): Promise<void> => {
    const noted = await perform(async () => {
      const { note: now } = await api.dead.note(id, text.trim() === "" ? null : text.trim());
      return now === null ? "The note is gone." : "Noted, for everybody.";
    });
    if (noted) setText(undefined);
  };
  return (
    <form
      class="note-form"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
      onKeyDown={(event) => event.key === "Escape" && setText(undefined)}
    >
      <input
        class="input"
        aria-label="Note"
        placeholder="their database moved, back at 10"
        maxLength={1000}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        ref={(input) => input?.focus()}
      />
      <Act small onAct={save}>
        Save
      </Act>
    </form>
  );
}
