import type { JSX } from "preact";
import { RANGES, showRange } from "../../api/ranges.ts";
import type { Window } from "../../api/ranges.ts";
import { Shape } from "../icon.tsx";

interface RangePickProps {
  readonly window: Window;
  /** Says what the colours of the chart are. */
  readonly legend?: boolean;
}

/** Which part of the time is shown; a part that was zoomed into is left by choosing another. */
export function RangePick({ window, legend = false }: RangePickProps): JSX.Element {
  const zoomed = window.name === "";
  return (
    <>
      {legend && (
        <span class="legend hide-s">
          <span class="state s-landed">
            <Shape name="s-landed" />
            landed
          </span>
          <span class="state s-halted">
            <Shape name="s-attempt" />
            failed
          </span>
          <span>drag to zoom</span>
        </span>
      )}
      {zoomed && (
        <button class="btn sm" type="button" onClick={() => showRange("1h")}>
          Zoom out
        </button>
      )}
      <select
        class="input range"
        aria-label="Range"
        value={window.name}
        onChange={(event) => showRange(event.currentTarget.value)}
      >
        {zoomed && <option value="">chosen part</option>}
        {RANGES.map(({ name, words }) => (
          <option value={name} key={name}>
            {words.replace(/^l/, "L")}
          </option>
        ))}
      </select>
    </>
  );
}
