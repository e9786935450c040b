import type { JSX } from "preact";
import sprite from "../style/icons.svg?url";

interface IconProps {
  /** As in icons.svg, without its `i-`. */
  readonly name: string;
  readonly class?: string;
}

/** A drawing from the sprite, which says nothing by itself: a word stands beside it. */
export function Icon({ name, class: more = "" }: IconProps): JSX.Element {
  return (
    <svg class={`i ${more}`} aria-hidden="true">
      <use href={`${sprite}#i-${name}`} />
    </svg>
  );
}

/** The shape of a state, in its colour. */
export function Shape({ name, class: more = "" }: IconProps): JSX.Element {
  return (
    <svg class={`si ${more}`} aria-hidden="true">
      <use href={`${sprite}#${name}`} />
    </svg>
  );
}

/** The horn. */
export function Mark(): JSX.Element {
  return (
    <svg viewBox="0 0 24 24" aria-hidden="true">
      <rect class="horn-tile" width="24" height="24" rx="6" />
      <circle cx="10.7" cy="14" r="4.35" fill="none" stroke="currentColor" stroke-width="2.3" />
      <path d="M4.5 9.65h9" fill="none" stroke="currentColor" stroke-width="2.3" />
      <path
        fill="currentColor"
        d="M3.2 7.7h1.7v3.9H3.2zM13.2 8.5c3.4 0 5.7-1.3 7.5-3.8v9.9c-1.8-2.5-4.1-3.8-7.5-3.8Z"
      />
    </svg>
  );
}
