/** Under which handlers are known to their store. */
export function handlerId(consumer: string): string {
  return `hnd_${consumer}`;
}

/** A consumer's name by its handler's id; an endpoint's id is its name. */
export function nameOf(id: string): string {
  return id.replace(/^hnd_/, "");
}

/** The provider's id of an event of a run. */
export function eventId(number: number): string {
  return `evt_${number}`;
}

/** A consumer that no version of the host has any more. */
export const GONE = "gone";

const CONFLICTS_FROM = 2000;

/** The number of what the provider sends under the id of another event. */
export function conflictNumber(of: number): number {
  return CONFLICTS_FROM + of;
}

/** Which event's id it has; undefined where it has its own. */
export function conflictOf(number: number): number | undefined {
  return number >= CONFLICTS_FROM ? number - CONFLICTS_FROM : undefined;
}

/** The number of an event by its id; -1 where it is no event of the provider. A conflict that is redriven has an id of its own. */
export function numberOfId(id: string): number {
  const [, digits, hash] = /^evt_(\d+)(~[0-9a-f]+)?$/.exec(id) ?? [];
  if (digits === undefined) return -1;
  return hash === undefined ? Number(digits) : conflictNumber(Number(digits));
}

export function numberOfEvent({
  receipt,
}: {
  readonly receipt?: { readonly id: string } | undefined;
}): number {
  return numberOfId(receipt?.id ?? "");
}
