import type { JSX } from "preact";
import { dismissOperation, operation, stopOperation } from "./operation.ts";
import { Act } from "../../parts/act.tsx";
import { Shape } from "../../parts/icon.tsx";

/** What is under way, at the foot of every page. */
export function OperationDock(): JSX.Element | null {
  const current = operation.value;
  if (current === undefined) return null;
  const { title, total, done, failed, problem, state } = current;
  const width = (n: number): number => (total === 0 ? 0 : (n / total) * 100);
  return (
    <section class="dock" aria-label="Under way">
      <span class="op">
        <b>{title}</b> <span class="faint">{state === "running" ? "" : state}</span>
      </span>
      <svg
        class="progress"
        viewBox="0 0 100 6"
        preserveAspectRatio="none"
        role="img"
        aria-label={`${done + failed} of ${total}`}
      >
        <rect class="ok" x="0" width={width(done)} height="6" />
        <rect class="no" x={width(done)} width={width(failed)} height="6" />
      </svg>
      <span class="tally">
        <span class="state s-landed">
          <Shape name="s-landed" />
          {done} due again
        </span>
        {failed > 0 && (
          <span class="state s-halted" title={problem}>
            <Shape name="s-attempt" />
            {failed} not
          </span>
        )}
        <span class="faint">of {total}</span>
      </span>
      <span class="btns">
        {state === "running" ? (
          <Act small harmless onAct={stopOperation}>
            Stop
          </Act>
        ) : (
          <Act small harmless onAct={dismissOperation}>
            Dismiss
          </Act>
        )}
      </span>
    </section>
  );
}
