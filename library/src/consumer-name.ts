// The handlers of a receiver, and of a worker without names: the inbox knows them as "", the lanes as `hnd_default`, and a person
// as `default`. A person may say any of the three, of every consumer its name or its id: one that is not understood would find
// nothing, silently. No name begins as an id does, so that each can be told from the other.
const PREFIX = "hnd_";
const DEFAULT = "default";

/** The handler of a worker that was given no names. It shares the rows of the inbox with the receiver's own handlers. */
export const DEFAULT_HANDLER: string = PREFIX + DEFAULT;

/** The one name that a person sees. */
export function shownName(named: string): string {
  const name = isHandlerId(named) ? named.slice(PREFIX.length) : named;
  return name === "" ? DEFAULT : name;
}

/**
 * As the inbox knows it. The default one has the rows of the in-transaction receiver: an event that came once in each mode,
 * during a migration from one to the other, is applied once.
 */
export function inboxName(named: string): string {
  const name = shownName(named);
  return name === DEFAULT ? "" : name;
}

/** As the lanes know it. */
export function handlerId(named: string): string {
  return PREFIX + shownName(named);
}

/** Whether the lanes of this id lead to a handler, and not to an endpoint. */
export function isHandlerId(id: string): boolean {
  return id.startsWith(PREFIX);
}

/** What is wrong with the name that a host gives a consumer; undefined where nothing is. */
export function consumerNameFault(name: string): string | undefined {
  const said = JSON.stringify(name);
  if (name.toLowerCase().startsWith(PREFIX))
    return (
      `the consumer's name ${said} begins as ids do: a person who says it would mean another consumer; ` +
      `leave out "${name.slice(0, PREFIX.length)}"`
    );
  if (/^[a-z0-9][a-z0-9_-]{0,62}$/i.test(name) && name !== DEFAULT) return undefined;
  return (
    `the consumer's name ${said} must be 1 to 63 letters, digits, "_" or "-", and not "${DEFAULT}", which is ` +
    "the consumer of `handlers`"
  );
}

/** A row of the inbox as its store is asked for it. */
export function asked<Row extends { readonly consumer: string }>(row: Row): Row {
  return { ...row, consumer: inboxName(row.consumer) };
}

/** A row of the inbox as a person sees it. */
export function shown<Row extends { readonly consumer: string }>(row: Row): Row {
  return { ...row, consumer: shownName(row.consumer) };
}
