import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { asked, dismiss, told } from "./deeds.ts";
import { helpShown, KEYS } from "./keys.ts";
import { Icon, Shape } from "../parts/icon.tsx";

/** The question that waits for an answer. Escape is no. */
export function Confirmation(): JSX.Element | null {
  const question = asked.value;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (question !== undefined) dialog.current?.showModal();
  }, [question]);
  if (question === undefined) return null;
  const { title, body, act, danger = false, answer } = question;
  return (
    <dialog class="dialog" ref={dialog} aria-labelledby="asked" onClose={() => answer(false)}>
      <header>
        <h2 id="asked">{title}</h2>
      </header>
      <div class="asked">{body}</div>
      <footer>
        <button class="btn" type="button" onClick={() => answer(false)}>
          No, go back
        </button>
        <button class={`btn ${danger ? "danger" : "primary"}`} type="button" onClick={() => answer(true)}>
          {act}
        </button>
      </footer>
    </dialog>
  );
}

/** What was done, and what failed. */
export function Toasts(): JSX.Element {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {told.value.map(({ id, text, failed }) => (
        <div class={`toast ${failed ? "failed" : ""}`} key={id}>
          {failed && <Shape name="s-failing" />}
          <span>{text}</span>
          <button class="toast-x" type="button" aria-label="Dismiss" onClick={() => dismiss(id)}>
            <Icon name="x" class="sm" />
          </button>
        </div>
      ))}
    </div>
  );
}

function close(): void {
  helpShown.value = false;
}

/** Every key. */
export function Help(): JSX.Element | null {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (helpShown.value) dialog.current?.showModal();
  }, [helpShown.value]);
  if (!helpShown.value) return null;
  return (
    <dialog class="dialog" ref={dialog} aria-labelledby="help" onClose={close}>
      <header>
        <h2 id="help">Keys</h2>
      </header>
      <div>
        <dl class="keys">
          {KEYS.map(([keys, what]) => (
            <div key={keys}>
              <dt>
                {keys.split(/ +/).map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
      </div>
      <footer>
        <button class="btn" type="button" onClick={close}>
          Close
        </button>
      </footer>
    </dialog>
  );
}
