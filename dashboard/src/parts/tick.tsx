import type { JSX } from "preact";
import { Icon } from "./icon.tsx";

interface TickProps {
  readonly label: string;
  readonly on: boolean;
  readonly onToggle: () => void;
}

/** A box that selects a row. */
export function Tick({ label, on, onToggle }: TickProps): JSX.Element {
  return (
    <span class="tick">
      <input type="checkbox" checked={on} aria-label={label} onChange={onToggle} />
      <Icon name="check" />
    </span>
  );
}
