import type { JSX } from "preact";
import type { Operation } from "posthorn/client";
import { api } from "../../api/api.ts";
import { useLive } from "../../api/live.ts";
import { Act } from "../../parts/act.tsx";
import { Shape } from "../../parts/icon.tsx";
import { hrefOf } from "../../place/location.ts";
import { perform } from "../../shell/deeds.ts";
import { grouped, oneLine } from "../../words/format.ts";
import { dismissOperation, doneWord, isUnderWay, operationTitle, tallyOf, watched } from "./operation.ts";

/** What is under way, at the foot of every page. */
export function OperationDock(): JSX.Element | null {
  if (watched.value.length === 0) return null;
  return (
    <section class="docks" aria-label="Under way">
      {watched.value.map((id) => (
        <DockRow id={id} key={id} />
      ))}
    </section>
  );
}

function DockRow({ id }: { readonly id: string }): JSX.Element | null {
  const { data, failure } = useLive(`operation ${id}`, () => api.operations.get(id), { everyMs: 1000 });
  if (data === undefined) return failure?.missing === true ? <Gone id={id} /> : null;
  return <Dock operation={data} onDismiss={() => dismissOperation(id)} />;
}

/** It was removed since: nothing is left to show. */
function Gone({ id }: { readonly id: string }): null {
  dismissOperation(id);
  return null;
}

interface DockProps {
  readonly operation: Operation;
  readonly onDismiss?: () => void;
}

/** One operation: how far it is, slower, stop. */
export function Dock({ operation, onDismiss }: DockProps): JSX.Element {
  const { id, state, plan, done, by, rate } = operation;
  const { good, other } = tallyOf(operation);
  const runs = isUnderWay(operation);
  return (
    <div class="dock">
      <span class="op">
        <a href={hrefOf(`/operations/${id}`)}>
          <b>{operationTitle(operation)}</b>
        </a>{" "}
        <span class="faint">{runs ? `by ${oneLine(by.name, 20)}` : state}</span>
      </span>
      <Progress good={good} other={other} total={plan.count} />
      <span class="tally">
        <b>
          {grouped(done)} of {grouped(plan.count)}
        </b>
        <span class="state s-landed">
          <Shape name="s-landed" />
          {grouped(good)} {doneWord(operation)}
        </span>
        {other > 0 && (
          <span class="state s-retrying">
            <Shape name="s-failing" />
            {grouped(other)} changed before
          </span>
        )}
        {runs && <span class="faint hide-s">at most {grouped(rate)} a second</span>}
      </span>
      <span class="btns">
        {runs ? <Steering operation={operation} /> : onDismiss && <Dismiss onDismiss={onDismiss} />}
      </span>
    </div>
  );
}

function Dismiss({ onDismiss }: { readonly onDismiss: () => void }): JSX.Element {
  return (
    <Act small harmless onAct={onDismiss}>
      Dismiss
    </Act>
  );
}

function Steering({ operation }: { readonly operation: Operation }): JSX.Element {
  const { id, rate, state } = operation;
  const slower = Math.max(1, Math.floor(rate / 4));
  const slow = (): Promise<boolean> =>
    perform(async () => `At most ${(await api.operations.rate(id, slower)).rate} a second from now on.`);
  const stop = (): Promise<boolean> =>
    perform(async () => {
      const { done, plan } = await api.operations.stop(id);
      return `Stopping after ${grouped(done)} of ${grouped(plan.count)}; at most one step is finished.`;
    });
  return (
    <>
      <Act small because={slower === rate ? "It goes as slowly as it can." : undefined} onAct={slow}>
        Slow down
      </Act>
      <Act small because={state === "stopping" ? "It is stopping." : undefined} onAct={stop}>
        Stop
      </Act>
    </>
  );
}

interface ProgressProps {
  readonly good: number;
  readonly other: number;
  readonly total: number;
}

export function Progress({ good, other, total }: ProgressProps): JSX.Element {
  const width = (n: number): number => (total === 0 ? 0 : Math.min(100, (n / total) * 100));
  return (
    <svg
      class="progress"
      viewBox="0 0 100 6"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${good + other} of ${total}`}
    >
      <rect class="ok" x="0" width={width(good)} height="6" />
      <rect class="no" x={width(good)} width={width(other)} height="6" />
    </svg>
  );
}
