import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { readOnly } from "../api/api.ts";
import { copy } from "../shell/deeds.ts";
import { Icon } from "./icon.tsx";

interface ActProps {
  readonly children: ComponentChildren;
  readonly icon?: string;
  readonly kind?: "primary" | "danger" | "quiet" | "plain";
  readonly small?: boolean;
  readonly type?: "button" | "submit";
  /** What it will do, where the label is too short for it. */
  readonly title?: string;
  /** Why it cannot be done; a grey button without a reason is a riddle. */
  readonly because?: string | undefined;
  /** It only looks: tokens that may only read may do it. */
  readonly harmless?: boolean;
  readonly onAct?: () => Promise<unknown> | void;
}

/** A button that names its act. While it is at work, a second click does nothing. */
export function Act(props: ActProps): JSX.Element {
  const { children, icon, kind = "plain", small = false, type = "button", harmless = false, onAct } = props;
  const [busy, setBusy] = useState(false);
  const because = props.because ?? (harmless ? undefined : readOnly.value);
  const run = async (): Promise<void> => {
    setBusy(true);
    try {
      await onAct?.();
    } finally {
      setBusy(false);
    }
  };
  const click = (event: Event): void => {
    if (because !== undefined || busy) event.preventDefault();
    else if (onAct !== undefined) void run();
  };
  // A main button says beside itself why it is grey; others do when one points at them.
  const loud = because !== undefined && kind === "primary";
  return (
    <>
      <button
        class={`btn ${kind === "plain" ? "" : kind} ${small ? "sm" : ""}`}
        type={type}
        aria-disabled={because !== undefined || busy}
        aria-busy={busy}
        title={because ?? props.title}
        onClick={click}
      >
        {icon !== undefined && <Icon name={icon} class={small ? "sm" : ""} />}
        {children}
        {because !== undefined && !loud && <span class="sr">. {because}</span>}
      </button>
      {loud && <span class="reason">{because}</span>}
    </>
  );
}

/** Copies a text; `what` says which, as in "the id". */
export function Copy({ text, what }: { readonly text: string; readonly what: string }): JSX.Element {
  return (
    <button
      class="copy"
      type="button"
      title={`Copy ${what}`}
      aria-label={`Copy ${what}`}
      onClick={() => void copy(text, what)}
    >
      <Icon name="copy" />
    </button>
  );
}
