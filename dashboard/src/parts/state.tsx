import type { ComponentChildren, JSX } from "preact";
import type { Look } from "../words/words.ts";
import { Shape } from "./icon.tsx";

interface StateProps {
  readonly look: Look;
  /** In place of the state's own word. */
  readonly children?: ComponentChildren;
}

/** A state in a row: shape and word. */
export function State({ look, children }: StateProps): JSX.Element {
  return (
    <span class={`state s-${look.tone}`}>
      <Shape name={look.icon} />
      <span class="cut">{children ?? look.word}</span>
    </span>
  );
}

/** The same on a ground of its colour. */
export function Badge({
  look,
  children,
  large = false,
}: StateProps & { readonly large?: boolean }): JSX.Element {
  return (
    <span class={`badge s-${look.tone} ${large ? "lg" : ""}`}>
      <Shape name={look.icon} />
      {children ?? look.word}
    </span>
  );
}
