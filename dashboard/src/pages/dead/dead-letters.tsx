import type { JSX } from "preact";
import type { DeadLetter } from "posthorn/client";
import { Act } from "../../parts/act.tsx";
import { FreshRows, ListFoot } from "../../parts/list.tsx";
import type { Grown } from "../../parts/list.tsx";
import { State } from "../../parts/state.tsx";
import { Tick } from "../../parts/tick.tsx";
import { Ago } from "../../parts/time.tsx";
import { deliveryHref, endpointHref } from "../../place/links.ts";
import { oneLine } from "../../words/format.ts";
import { deadReason } from "../../words/words.ts";

interface LettersProps {
  readonly list: Grown<DeadLetter>;
  readonly chosen: readonly string[];
  readonly setChosen: (ids: readonly string[]) => void;
}

/** One by one, newest first. */
export function Letters({ list, chosen, setChosen }: LettersProps): JSX.Element | null {
  const ids = list.rows.map(({ id }) => id);
  const selected = ids.filter((id) => chosen.includes(id));
  const toggle = (id: string): void =>
    setChosen(chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id]);
  if (ids.length === 0) return null;
  const all = selected.length === ids.length;
  return (
    <section class="panel" aria-label="Dead letters" {...list.hold}>
      <header>
        <h2>One by one</h2>
        {selected.length > 0 && (
          <span class="end">
            <b class="small">
              {selected.length} of {ids.length} selected
            </b>
            <Act small kind="quiet" harmless onAct={() => setChosen([])}>
              Clear
            </Act>
          </span>
        )}
      </header>
      <FreshRows of={list} />
      <div class="table-wrap">
        <table class="table">
          <thead>
            <tr>
              <th class="check">
                <Tick
                  label="Select all that are shown"
                  on={all}
                  onToggle={() => setChosen(all ? [] : ids.slice(0, 1000))}
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
            {list.rows.map((letter) => (
              <LetterRow
                letter={letter}
                on={chosen.includes(letter.id)}
                onToggle={() => toggle(letter.id)}
                key={`${letter.id} ${letter.round}`}
              />
            ))}
          </tbody>
        </table>
      </div>
      <ListFoot of={list} noun="dead letter" />
    </section>
  );
}

interface LetterRowProps {
  readonly letter: DeadLetter;
  readonly on: boolean;
  readonly onToggle: () => void;
}

function LetterRow({ letter, on, onToggle }: LetterRowProps): JSX.Element {
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
