import type { Sender } from "../../library/src/outbox/sender.js";
import { isPosthornError } from "../../library/src/posthorn-error.js";
import type { Publication } from "../../library/src/publication.js";
import { businessRow } from "./handler.js";
import type { Life } from "./life.js";
import { atOnce } from "./line.js";
import type { Line } from "./line.js";
import type { EventPlan, PublishHow } from "../script/script.js";
import { bodyOf } from "./wire-event.js";

export interface PublishingParts {
  readonly sender: Sender<unknown, "asynchronous">;
  readonly line: Line;
  readonly life: Life;
  /** The right time: a publisher that sets `deliverAt` or `expiresAt` has looked at a right clock. */
  readonly nowMs: () => number;
}

/** What the host knows afterwards: `unknown` may have been done or not. */
export type PublishResult = "ok" | "fail" | "unknown";

/** Publishes as a host does: again with the same ids where it cannot know, unless the ids were not its own. */
export async function publishAll(
  parts: PublishingParts,
  events: readonly EventPlan[],
  { how, twice }: { readonly how: PublishHow; readonly twice: boolean },
): Promise<PublishResult> {
  const publications = events.map((event) => publicationOf(event, parts.nowMs()));
  const once = (): Promise<PublishResult> =>
    how === "append" ? append(parts, publications) : inTransaction(parts, events, { publications, how });
  const first = await once();
  const mayRepeat = events.every(({ idGiven }) => idGiven) && how !== "rollback";
  if (!mayRepeat || (first !== "unknown" && !twice)) return first;
  await parts.life.sleep(100);
  parts.line.log.count("publish.again");
  const second = await once();
  return first === "ok" || second === "ok" ? "ok" : "unknown";
}

async function append(
  { sender }: PublishingParts,
  publications: readonly Publication[],
): Promise<PublishResult> {
  try {
    await sender.publish(publications);
    return "ok";
  } catch (error) {
    // Refused before anything was written, where the clock of this machine says that its time is over.
    return isPosthornError(error) && error.code === "publication_invalid" ? "fail" : "unknown";
  }
}

async function inTransaction(
  { sender, line }: PublishingParts,
  events: readonly EventPlan[],
  { publications, how }: { readonly publications: readonly Publication[]; readonly how: PublishHow },
): Promise<PublishResult> {
  const { store } = line.database;
  let committing = false;
  try {
    const tx = await line.ask("begin", () => {
      const begun = store.begin();
      for (const { number } of events) store.write(begun, businessRow(number));
      return Promise.resolve(begun);
    });
    await sender.publish(publications, { tx });
    if (how === "rollback") {
      await line.ask("rollback", () => atOnce(() => store.rollback(tx)));
      return "fail";
    }
    committing = true;
    await line.ask("commit", () => atOnce(() => store.commit(tx)));
    sender.wake();
    return "ok";
  } catch {
    return committing ? "unknown" : "fail";
  }
}

function publicationOf(event: EventPlan, nowMs: number): Publication {
  const { number, type, key, handler, idGiven, deliverAfterMs, expiresAfterMs } = event;
  return {
    type,
    body: bodyOf({ type, number, key, handler }),
    ...(key !== undefined && { key }),
    ...(idGiven && { id: `evt_${number}` }),
    ...(deliverAfterMs !== undefined && { deliverAt: new Date(nowMs + deliverAfterMs) }),
    ...(expiresAfterMs !== undefined && { expiresAt: new Date(nowMs + expiresAfterMs) }),
  };
}
