import { signal } from "@preact/signals";
import type { JSX } from "preact";
import type { Consumer } from "posthorn/client";
import { api } from "../../api/api.ts";
import { Field } from "../../parts/field.tsx";
import { hrefOf, navigate } from "../../place/location.ts";
import { confirmed, perform } from "../../shell/deeds.ts";
import { count, oneLine } from "../../words/format.ts";

type Removable = Pick<Consumer, "id" | "waiting" | "exact" | "dead">;

// Of the dialog that is open: there is one at a time.
const because = signal("");

function RemoveFields({ consumer }: { readonly consumer: Removable }): JSX.Element {
  return (
    <>
      <p>
        <b>{willCancel(consumer)}</b> It gets no further events, and {deadWords(consumer)}. What it has
        handled stays in the inbox. This cannot be undone; a worker that registers it again makes it anew.
      </p>
      <Field
        label="Because"
        value={because.value}
        placeholder="it is called invoicing now"
        hint="For whoever looks for it later. It is kept in the audit."
        onValue={(value) => (because.value = value)}
      />
    </>
  );
}

/** What is lost with it. */
function willCancel({ waiting, exact }: Removable): string {
  if (waiting === 0) return "Nothing waits for it.";
  return `${exact ? "" : "More than "}${count(waiting, "delivery")} that ${waiting === 1 ? "waits" : "wait"} for it will be cancelled.`;
}

function deadWords({ dead }: Removable): string {
  if (dead === 0) return "it has no dead letters";
  return `${count(dead, "dead letter")} of it ${dead === 1 ? "is" : "are"} resolved without being handled`;
}

/** Asks, with what will be cancelled, and removes a handler that no worker has any more. */
export async function removeConsumer(consumer: Removable): Promise<boolean> {
  because.value = "";
  const name = oneLine(consumer.id, 40);
  const yes = await confirmed({
    title: `Remove ${name}?`,
    body: <RemoveFields consumer={consumer} />,
    act: `Remove ${name}`,
    danger: true,
  });
  if (!yes) return false;
  const note = because.value.trim() === "" ? undefined : because.value.trim();
  return perform(async () => {
    // What the dialog has named may go; what came meanwhile to one that was empty may not.
    const cancelWaiting = consumer.waiting > 0 || consumer.dead > 0;
    await api.consumers.remove(consumer.id, { note, cancelWaiting });
    navigate(hrefOf("/consumers"));
    return `${name} is removed.`;
  });
}
