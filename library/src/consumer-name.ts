// The handlers of a receiver, and of a worker without names: the inbox knows them as "", the lanes as `hnd_default`. A person
// may say any of the three, of every consumer its name or its id: one that is not understood would find nothing, silently.
const DEFAULT = "default";

/** The one name that a person sees. */
export function shownConsumer(named: string): string {
  const name = named.replace(/^hnd_/, "");
  return name === "" ? DEFAULT : name;
}

/** As the inbox knows it. */
export function inboxConsumer(named: string): string {
  const name = shownConsumer(named);
  return name === DEFAULT ? "" : name;
}

/** As the lanes know it. */
export function handlerId(named: string): string {
  return `hnd_${shownConsumer(named)}`;
}

/** A row as its store is asked for it. */
export function asked<Row extends { readonly consumer: string }>(row: Row): Row {
  return { ...row, consumer: inboxConsumer(row.consumer) };
}

/** A row as a person sees it. */
export function shown<Row extends { readonly consumer: string }>(row: Row): Row {
  return { ...row, consumer: shownConsumer(row.consumer) };
}
