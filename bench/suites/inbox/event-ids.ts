import { randomUUID } from "node:crypto";

/** Gives ids that were never given before. */
export type IdSource = () => string;

// The length of a ULID behind a prefix, as the big providers have them.
const TAIL = "k3x9q2mz7w";

/** Ids that grow with time, as ULIDs and most providers' ids do: each lands at the right end of an index. */
export function orderedIds(): IdSource {
  let count = 0;
  return () => {
    count += 1;
    return `evt_${Date.now().toString(36).padStart(9, "0")}${count.toString(36).padStart(7, "0")}${TAIL}`;
  };
}

/** Ids without any order: each lands on another page of an index. */
export function randomIds(): IdSource {
  return () => `evt_${randomUUID()}`;
}
