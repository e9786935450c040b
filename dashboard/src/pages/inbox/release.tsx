import type { HeldEvent, HeldGap } from "posthorn/client";
import { api } from "../../api/api.ts";
import { confirmed, perform } from "../../shell/deeds.ts";
import { count, oneLine } from "../../words/format.ts";

/** `7`, or `7 to 8`. */
export function rangeWords({ from, to }: HeldGap): string {
  return from === to ? from : `${from} to ${to}`;
}

/** Asks, and gives up what a held event waits for. */
export async function releaseHeld({ id, tenant, sequence, key, missing }: HeldEvent): Promise<boolean> {
  const yes = await confirmed({
    title: `Release ${sequence} of ${oneLine(key, 40)}?`,
    body: (
      <>
        <p>
          <b>
            {missing === null ? "What is missing before it" : `Sequence ${rangeWords(missing)}`} is given up.
          </b>{" "}
          It goes on now, after those of its key that are held before it, and its handlers are told of the
          gap.
        </p>
        <p>What is missing is handled too when it comes after all; it is called late then.</p>
      </>
    ),
    act: `Release ${sequence}`,
  });
  if (!yes) return false;
  return perform(async () => {
    const { events, gaps } = await api.inbox.release(id, { tenant });
    const without = gaps.length === 0 ? "" : `, without ${gaps.map(rangeWords).join(", ")}`;
    return `${count(events, "event")} ${events === 1 ? "goes" : "go"} on${without}.`;
  });
}
