import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { DeadLetter } from "posthorn/client";
import { api } from "../../api/api.ts";
import { filtered, groupsOf } from "./dead-groups.ts";
import type { DeadFilter } from "./dead-groups.ts";
import { count, oneLine } from "../../words/format.ts";
import { deliveryHref, endpointHref, shellWord } from "../../place/links.ts";
import { hrefOf, place, setQuery } from "../../place/location.ts";
import { DeadPlan } from "./dead-plan.tsx";
import { Act } from "../../parts/act.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Chip, FreshRows, ListFoot, useList } from "../../parts/list.tsx";
import type { Grown } from "../../parts/list.tsx";
import { Empty, FailureNotice, Page, PageHead } from "../../parts/page.tsx";
import { State } from "../../parts/state.tsx";
import { Ago } from "../../parts/time.tsx";
import { deadReason } from "../../words/words.ts";

const FILTERS = ["endpoint", "reason", "because", "type"] as const;

/** Deliveries that were given up: look, choose, plan, redrive. */
export function Dead(): JSX.Element {
  const { query } = place.value;
  const filter: DeadFilter = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? undefined]));
  const list = useList(
    "dead letters",
    (page) => api.dead.list(page),
    ({ id, round }) => `${id} ${round}`,
  );
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const shown = filtered(list.rows, filter);
  const selected = shown.filter(({ id }) => chosen.has(id));
  const flag = filter.endpoint === undefined ? "" : ` --endpoint ${shellWord(filter.endpoint)}`;
  return (
    <Page title="Dead letters" cli={[`posthorn dead list${flag}`, `posthorn redrive --all${flag}`]}>
      <PageHead
        title="Dead letters"
        lede="Deliveries that were given up. They keep their bytes and their place until you redrive or skip them."
      />
      {list.live.failure !== undefined && <FailureNotice failure={list.live.failure} />}
      {list.rows.length > 0 && <Groups letters={list.rows} filter={filter} />}
      <Chosen filter={filter} />
      <Letters list={list} shown={shown} chosen={chosen} setChosen={setChosen} />
      {selected.length > 0 && <DeadPlan letters={selected} discard={() => setChosen(new Set())} />}
    </Page>
  );
}

/** Why they died, and where: each group filters the list. */
function Groups({
  letters,
  filter,
}: {
  readonly letters: readonly DeadLetter[];
  readonly filter: DeadFilter;
}): JSX.Element {
  const groups = groupsOf(letters);
  return (
    <div class="groups" role="group" aria-label="Reasons">
      {groups.slice(0, 8).map(({ endpointId, reason, count: n, blocking }) => {
        const on = filter.endpoint === endpointId && filter.reason === reason;
        return (
          <button
            class="group"
            type="button"
            aria-pressed={on}
            key={`${endpointId} ${reason}`}
            onClick={() =>
              setQuery(on ? { endpoint: undefined, reason: undefined } : { endpoint: endpointId, reason })
            }
          >
            <b>{n}</b>
            <span class="cut">
              {oneLine(reason, 60)} <span class="faint">· {oneLine(endpointId, 30)}</span>
            </span>
            {blocking > 0 && (
              <State look={{ tone: "halted", icon: "s-halted", word: "" }}>
                {count(blocking, "lane")} wait
              </State>
            )}
          </button>
        );
      })}
    </div>
  );
}

function Chosen({ filter }: { readonly filter: DeadFilter }): JSX.Element | null {
  const given = FILTERS.flatMap((name) =>
    filter[name] === undefined ? [] : [[name, filter[name] ?? ""] as const],
  );
  if (given.length === 0) return null;
  return (
    <div class="toolbar">
      {given.map(([name, value]) => (
        <Chip name={name} value={oneLine(value, 60)} key={name} />
      ))}
      <a class="btn sm quiet" href={hrefOf("/dead")}>
        Clear all
      </a>
    </div>
  );
}

interface LettersProps {
  readonly list: Grown<DeadLetter>;
  readonly shown: readonly DeadLetter[];
  readonly chosen: ReadonlySet<string>;
  readonly setChosen: (chosen: ReadonlySet<string>) => void;
}

function Letters({ list, shown, chosen, setChosen }: LettersProps): JSX.Element {
  const ids = shown.map(({ id }) => id);
  const selected = ids.filter((id) => chosen.has(id)).length;
  const toggleAll = (): void => setChosen(selected === ids.length ? new Set() : new Set(ids));
  const toggle = (id: string): void => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  if (shown.length === 0) return <NoLetters list={list} />;
  return (
    <section class="panel" aria-label="Dead letters" {...list.hold}>
      <FreshRows of={list} />
      {selected > 0 && (
        <header class="sel">
          <b class="small">
            {selected} of {ids.length} selected
          </b>
          <span class="end">
            <Act small kind="quiet" harmless onAct={() => setChosen(new Set())}>
              Clear
            </Act>
          </span>
        </header>
      )}
      <div class="table-wrap">
        <table class="table">
          <thead>
            <tr>
              <th class="check">
                <Tick
                  label="Select all that are shown"
                  on={selected > 0 && selected === ids.length}
                  onToggle={toggleAll}
                />
              </th>
              <th>Reason</th>
              <th class="hide-s">Type</th>
              <th class="hide-s">Its lane</th>
              <th class="num hide-m">Attempts</th>
              <th class="num">Died</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((letter) => (
              <LetterRow
                letter={letter}
                on={chosen.has(letter.id)}
                onToggle={() => toggle(letter.id)}
                key={letter.id}
              />
            ))}
          </tbody>
        </table>
      </div>
      <ListFoot of={list} noun="dead letter" />
    </section>
  );
}

function NoLetters({ list }: { readonly list: Grown<DeadLetter> }): JSX.Element | null {
  if (list.live.data === undefined) return null;
  return (
    <section class="panel">
      {list.rows.length === 0 ? (
        <Empty icon="check" title="Nothing was given up">
          A delivery ends here when all of its attempts have failed, or its endpoint refuses it for good.
        </Empty>
      ) : (
        <Empty
          icon="search"
          title="None of those that are loaded fits"
          act={
            <a class="btn" href={hrefOf("/dead")}>
              Show all
            </a>
          }
        >
          Filters look at the {list.rows.length} newest. Load more below, or take a filter away.
        </Empty>
      )}
      {list.more && <ListFoot of={list} noun="dead letter" />}
    </section>
  );
}

interface TickProps {
  readonly label: string;
  readonly on: boolean;
  readonly onToggle: () => void;
}

function Tick({ label, on, onToggle }: TickProps): JSX.Element {
  return (
    <span class="tick">
      <input type="checkbox" checked={on} aria-label={label} onChange={onToggle} />
      <Icon name="check" />
    </span>
  );
}

function LetterRow({
  letter,
  on,
  onToggle,
}: { readonly letter: DeadLetter } & Omit<TickProps, "label">): JSX.Element {
  const { id, endpointId, type, attempts, diedAt, blocks, key } = letter;
  const lane = blocks
    ? ({ tone: "halted", icon: "s-halted", word: "waits for it" } as const)
    : ({ tone: "landed", icon: "s-landed", word: "went on" } as const);
  return (
    <tr data-row class="tall" aria-selected={on}>
      <td class="check">
        <Tick label={`Select ${id}`} on={on} onToggle={onToggle} />
      </td>
      <td>
        <a class="main-cell" href={deliveryHref(id)} data-open>
          {oneLine(deadReason(letter), 60)}
        </a>
        <span class="sub">
          <a href={endpointHref(endpointId)}>{oneLine(endpointId, 40)}</a>
          {key !== null && key !== "" && ` · ${oneLine(key, 40)}`}
        </span>
        <span class="only-s small">
          <State look={lane} />
        </span>
      </td>
      <td class="dim hide-s">{oneLine(type, 40)}</td>
      <td class="hide-s">
        <State look={lane} />
      </td>
      <td class="num dim hide-m">{attempts}</td>
      <td class="num dim nowrap">
        <Ago at={diedAt} />
      </td>
    </tr>
  );
}
