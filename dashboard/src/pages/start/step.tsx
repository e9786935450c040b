import type { ComponentChildren, JSX } from "preact";
import { Shape } from "../../parts/icon.tsx";

interface StepProps {
  readonly n: number;
  readonly step: number;
  readonly title: string;
  readonly hint: string;
  readonly done: boolean;
  readonly end?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** One step of the first walk: done, now, or later. */
export function Step({ n, step, title, hint, done, end, children }: StepProps): JSX.Element {
  const isNow = step === n;
  return (
    <li
      class={`step ${done ? "done" : isNow ? "now" : "later"}`}
      {...(isNow && { "aria-current": "step" as const })}
    >
      <span class={`bullet ${done ? "s-landed" : ""}`}>{done ? <Shape name="s-landed" /> : n}</span>
      <div class={`step-body ${isNow && !done ? "panel" : ""}`}>
        <div class="step-head">
          <h2>{title}</h2>
          <span class="faint small">{hint}</span>
          {end !== undefined && <span class="end">{end}</span>}
        </div>
        {children}
      </div>
    </li>
  );
}
