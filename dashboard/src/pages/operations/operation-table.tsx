import type { JSX } from "preact";
import type { Operation } from "posthorn/client";
import { State } from "../../parts/state.tsx";
import { Ago } from "../../parts/time.tsx";
import { hrefOf } from "../../place/location.ts";
import { grouped, oneLine, shortId } from "../../words/format.ts";
import type { Look } from "../../words/words.ts";
import { doneWord, operationTitle, tallyOf } from "../dead/operation.ts";

const LOOKS: Readonly<Record<Operation["state"], Look>> = {
  planned: { tone: "disabled", icon: "s-silent", word: "planned" },
  running: { tone: "waiting", icon: "s-active", word: "under way" },
  stopping: { tone: "paused", icon: "s-paused", word: "stopping" },
  stopped: { tone: "paused", icon: "s-paused", word: "stopped" },
  finished: { tone: "landed", icon: "s-landed", word: "finished" },
  failed: { tone: "halted", icon: "s-failing", word: "failed" },
};

export function operationLook({ state }: Pick<Operation, "state">): Look {
  return LOOKS[state] ?? LOOKS.planned;
}

/** What came of it, in a few words. */
function resultWords(operation: Operation): string {
  const { state, done, plan } = operation;
  const { good } = tallyOf(operation);
  if (state === "stopped") return `stopped after ${grouped(done)} of ${grouped(plan.count)}`;
  if (state === "failed") return oneLine(operation.message ?? "failed", 60);
  return `${grouped(good)} ${doneWord(operation)}`;
}

/** Operations, one in each row. */
export function OperationTable({ operations }: { readonly operations: readonly Operation[] }): JSX.Element {
  return (
    <div class="table-wrap">
      <table class="table">
        <thead>
          <tr>
            <th>What</th>
            <th>Result</th>
            <th class="hide-s">By</th>
            <th class="num">When</th>
            <th class="num hide-m">Id</th>
          </tr>
        </thead>
        <tbody>
          {operations.map((operation) => {
            const { id, by, startedAt, plannedAt, note } = operation;
            return (
              <tr data-row class={note === null ? "" : "tall"} key={id}>
                <td>
                  <a class="main-cell" href={hrefOf(`/operations/${id}`)} data-open>
                    {operationTitle(operation)}
                  </a>
                  {note !== null && <span class="sub">{oneLine(note, 100)}</span>}
                </td>
                <td>
                  <State look={operationLook(operation)}>{resultWords(operation)}</State>
                </td>
                <td class="dim hide-s">{oneLine(by.name, 30)}</td>
                <td class="num dim nowrap">
                  <Ago at={startedAt ?? plannedAt} />
                </td>
                <td class="num mono faint hide-m">{shortId(id)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
