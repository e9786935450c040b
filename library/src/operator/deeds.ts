import { encodeHex } from "../bytes.js";
import { handlerId, shownName } from "../consumer-name.js";
import { notify } from "../observer.js";
import type { Observer } from "../observer.js";
import { checkReason } from "./check-asked.js";
import type { InboxAddress, RefusedRecord } from "./inbox-view-store.js";
import { OPERATOR_ERRORS } from "./operator-errors.js";
import type { Reason } from "./reason.js";
import type { Verbs } from "./verbs.js";

/** Something that is about to be done. */
export interface Deed {
  readonly reason: Reason | undefined;
  /** What it is done to, one text for each. Asked afterwards: by then the verb has judged what it was given. */
  readonly on: () => readonly string[];
}

/** Whom a deed is told to, and whose it is where nobody is named. */
export interface Teller {
  readonly observer: Observer | undefined;
  readonly by: string;
}

/** Each verb by itself has exact types; the table calls them all alike. */
type Verb = (...given: never[]) => Promise<unknown>;

/** Every verb that changes something. One without a row would leave no trace of who did it. */
const DEEDS = {
  redrive: (id, reason) => ({ reason, on: () => [id] }),
  skip: (lane, head, reason) => ({ reason, on: () => [`lane ${lane}, sequence ${head}`] }),
  cancel: (lane, through, reason) => ({ reason, on: () => [`lane ${lane}, up to sequence ${through}`] }),
  retry: (what, reason) => ({
    reason,
    on: () => [
      "laneId" in what ? `lane ${what.laneId}` : "deliveryId" in what ? what.deliveryId : what.endpointId,
    ],
  }),
  raiseGenerations: (reason) => ({ reason, on: () => ["every lane"] }),
  redriveAll: (letters, reason) => ({ reason, on: () => letters.map(({ id }) => id) }),
  redriveEvent: (number, reason) => ({ reason, on: () => [`set aside ${number}`] }),
  release: (tenant, eventId, reason) => ({ reason, on: () => [`${tenant}/${eventId}`] }),
  pause: (id, reason) => ({ reason, on: () => [handlerId(id)] }),
  resume: (id, reason) => ({ reason, on: () => [handlerId(id)] }),
  remove: (id, reason) => ({ reason, on: () => [handlerId(id)] }),
  redriveInbox: (rows, reason) => ({ reason, on: () => rows.map(rowText) }),
  replay: (rows, reason) => ({ reason, on: () => rows.map(rowText) }),
  forget: (tenant, source, id, reason) => ({ reason, on: () => [`${tenant}/${source}/${id}`] }),
  redriveRefused: (refused, reason) => ({ reason, on: () => [refusedText(refused)] }),
} satisfies { readonly [Name in keyof Verbs]?: (...given: Parameters<Verbs[Name]>) => Deed };

/** The same verbs; those that change something tell the observer what they did, whose deed it is and why. */
export function telling<Given extends Partial<Verbs>>(verbs: Given, teller: Teller): Given {
  const deeds = Object.entries<(...given: never[]) => Deed>(DEEDS).flatMap(([name, deedOf]) => {
    const verb = (verbs as Readonly<Record<string, Verb | undefined>>)[name];
    if (verb === undefined) return [];
    const told: Verb = (...given) =>
      tellDeed(teller, { verb: name, ...deedOf(...given) }, () => verb(...given));
    return [[name, told] as const];
  });
  return { ...verbs, ...Object.fromEntries(deeds) };
}

/** Does it, and tells it afterwards. What was refused was not done, and is not told. */
export async function tellDeed<Answer>(
  { observer, by: operator }: Teller,
  { verb, reason, on }: Deed & { readonly verb: string },
  act: () => Promise<Answer>,
): Promise<Answer> {
  checkReason(verb, reason);
  const { because, by = operator } = reason ?? {};
  const tell = (answerOf: (n: number) => string): void => {
    if (observer === undefined) return;
    for (const [n, each] of on().entries())
      notify(observer, { kind: "operator_acted", verb, on: each, answer: answerOf(n), by, because });
  };
  let answer: Answer;
  try {
    answer = await act();
  } catch (error) {
    // Not the message: a database quotes rows in its own.
    const { code, name } = Object(error) as { readonly code?: string | number; readonly name?: string };
    const thrown = String(code ?? name ?? typeof error);
    // The commit may have come through, and only its answer have been lost: then it was done.
    if (!Object.hasOwn(OPERATOR_ERRORS, thrown)) tell(() => `threw ${thrown}`);
    throw error;
  }
  tell((n) => inShort(Array.isArray(answer) ? answer[n] : answer));
  return answer;
}

/** An answer with its numbers and ids; what is deeper, such as the gaps of a release, is left to whoever called. */
function inShort(answer: unknown): string {
  if (typeof answer !== "object" || answer === null) return String(answer);
  const { kind, ...facts } = answer as Readonly<Record<string, unknown>>;
  const shown = Object.entries(facts).filter(([, fact]) => typeof fact !== "object");
  return [kind, ...shown.map(([name, fact]) => `${name} ${String(fact)}`)].join(", ");
}

/** A row of the inbox, by its event and its consumer. */
export function rowText({ tenant, source, id, consumer }: InboxAddress): string {
  return `${tenant}/${source}/${id} at ${shownName(consumer)}`;
}

/** With the beginning of its body's hash, as the command takes it: an event may have several bodies that were refused. */
function refusedText({
  tenant,
  source,
  id,
  bodyHash,
}: Pick<RefusedRecord, "tenant" | "source" | "id" | "bodyHash">): string {
  return `${tenant}/${source}/${id} of body ${encodeHex(bodyHash).slice(0, 12)}`;
}
