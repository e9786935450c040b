import { signal } from "@preact/signals";
import type { JSX } from "preact";
import type { Consumer } from "posthorn/client";
import { api } from "../../api/api.ts";
import { Choice, Field } from "../../parts/field.tsx";
import { confirmed, perform } from "../../shell/deeds.ts";
import { oneLine } from "../../words/format.ts";

const LENGTHS = [
  ["900000", "15 minutes"],
  ["3600000", "1 hour"],
  ["86400000", "1 day"],
  ["", "until somebody resumes it"],
] as const;

// Of the dialog that is open: there is one at a time.
const length = signal("3600000");
const because = signal("");

function PauseFields(): JSX.Element {
  return (
    <>
      <p>
        <b>What comes for it waits, in order.</b> What is being handled at this moment ends. Nothing is lost,
        and no attempt is spent.
      </p>
      <Choice
        label="For"
        value={length.value}
        options={LENGTHS}
        hint="It ends by itself, also where nobody looks."
        onValue={(value) => (length.value = value)}
      />
      <Field
        label="Because"
        value={because.value}
        placeholder="the bank is down"
        hint="For whoever finds it paused. It is kept in the audit, too."
        onValue={(value) => (because.value = value)}
      />
    </>
  );
}

/** Asks for how long and why, and pauses a handler. */
export async function pauseConsumer({ id }: Pick<Consumer, "id">): Promise<boolean> {
  because.value = "";
  const yes = await confirmed({
    title: `Pause ${oneLine(id, 40)}?`,
    body: <PauseFields />,
    act: `Pause ${oneLine(id, 40)}`,
  });
  if (!yes) return false;
  const forMs = length.value === "" ? undefined : Number(length.value);
  const note = because.value.trim() === "" ? undefined : because.value.trim();
  return perform(
    async () => `${(await api.consumers.pause(id, { forMs, note })).id} is paused; its events wait in order.`,
  );
}

/** Ends the pause of a handler. */
export function resumeConsumer({ id }: Pick<Consumer, "id">): Promise<boolean> {
  return perform(async () => `${(await api.consumers.resume(id)).id} is active again.`);
}

/** Who or what has paused it. */
export function pausedByWords({ pausedBy }: Pick<Consumer, "pausedBy">): string {
  return pausedBy === null ? "by a rule for errors" : `by ${oneLine(pausedBy, 40)}`;
}
