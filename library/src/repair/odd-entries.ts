import type { LogEntry } from "./delivery-log.js";
import { unreadable } from "./provider-api.js";

// One entry in an odd shape must not keep a repair from the others until it leaves the log, which takes days.

/** The times of a page, newest first; an entry without one has that of its nearest newer neighbour, or else of the next older one. */
export function timesOf(title: string, times: readonly Date[]): readonly Date[] {
  let last = times.find(isTime);
  // Nothing would say whether the page belongs to the window.
  if (last === undefined && times.length > 0) throw unreadable(title, "listed no entry with a time");
  return times.map((time) => (last = isTime(time) ? time : (last as Date)));
}

function isTime(time: Date): boolean {
  return !Number.isNaN(time.getTime());
}

/**
 * An entry without the fields that its delivery is known or loaded by. As one that cannot be loaded it counts as unsettled under this
 * name, which the observer is told, until it has left the log.
 */
export function oddEntry(title: string, name: string, at: Date): LogEntry {
  const load = (): Promise<never> =>
    Promise.reject(unreadable(title, `listed ${name} without the fields by which it is known and loaded`));
  return { id: name, at, load };
}
