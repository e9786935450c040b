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

/** The number of an event by the provider's id; -1 where it is no event of the provider. */
export function numberOfId(id: string): number {
  return Number(/^evt_(\d+)$/.exec(id)?.[1] ?? -1);
}

export function numberOfEvent({
  receipt,
}: {
  readonly receipt?: { readonly id: string } | undefined;
}): number {
  return numberOfId(receipt?.id ?? "");
}
