import type { ComponentChildren, JSX } from "preact";
import { Act, Copy } from "./act.tsx";
import { Panel } from "./panel.tsx";

interface ShownOnceProps {
  readonly title: string;
  readonly text: string;
  readonly onDone: () => void;
  readonly children: ComponentChildren;
}

/** A secret that nobody can show again. */
export function ShownOnce({ title, text, onDone, children }: ShownOnceProps): JSX.Element {
  return (
    <Panel title={title} class="once">
      <div class="pad form">
        <p class="dim">{children}</p>
        <span class="paste">
          <code>{text}</code>
          <Copy text={text} what="it" />
        </span>
        <div class="btns">
          <Act harmless onAct={onDone}>
            I have kept it
          </Act>
        </div>
      </div>
    </Panel>
  );
}
