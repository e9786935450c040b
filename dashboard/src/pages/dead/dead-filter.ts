import type { DeadGroup, DeadQuery } from "posthorn/client";
import { shellWord } from "../../place/links.ts";
import { answerWords, becauseWords } from "../../words/words.ts";

/** What the API finds dead letters by; each is served by an index. */
export const DEAD_FILTERS = [
  "endpoint",
  "because",
  "status",
  "error",
  "key",
  "tenant",
  "since",
  "until",
] as const;

/** The dead letters of one group, and of no other. */
export function queryOfGroup(group: DeadGroup, more: DeadQuery = {}): DeadQuery {
  const { endpointId, because, status, error } = group;
  return {
    ...more,
    endpoint: endpointId,
    because,
    status: status === null ? "none" : String(status),
    error: error ?? "none",
  };
}

/** Why they died, in a few words: `answered 500`, `no answer came in time`. */
export function groupReason({
  because,
  status,
  error,
}: Pick<DeadGroup, "because" | "status" | "error">): string {
  if (status !== null) return `answered ${status}`;
  return error === null ? becauseWords(because) : answerWords(null, error);
}

/** Whether a filter lets a group through; by key and time it is not known without reading the letters. */
export function groupFits(
  group: DeadGroup,
  { endpoint, because, status, error, tenant }: DeadQuery,
): boolean {
  return (
    fits(endpoint, group.endpointId) &&
    fits(because, group.because) &&
    fits(status, group.status === null ? "none" : String(group.status)) &&
    fits(error, group.error ?? "none") &&
    fits(tenant, group.tenant)
  );
}

function fits(wanted: string | undefined, found: string): boolean {
  return wanted === undefined || wanted === "" || wanted === found;
}

/** The flags of the command line for the same filter. */
export function flagsOf(query: DeadQuery): string {
  return Object.entries(query)
    .map(([name, value]) => (value === undefined ? "" : ` --${name} ${shellWord(String(value))}`))
    .join("");
}
