// Beside the receivers, and not part of them: what a host puts around a receiver is one, too, and need not say its sources.
const NAMES = new WeakMap<object, readonly string[]>();

/** Remembers which sources a receiver has, for whoever mounts it. */
export function nameSources(receiver: object, names: readonly string[]): void {
  NAMES.set(receiver, names);
}

/** The sources of a receiver; undefined where something else stands for it. */
export function sourceNames(receiver: object): readonly string[] | undefined {
  return NAMES.get(receiver);
}
