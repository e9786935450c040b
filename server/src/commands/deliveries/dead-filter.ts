import type { DeadLetter, DeadQuery } from "posthorn/client";
import { CommandFailure } from "../../terminal/failure.js";
import type { Flag } from "../define-command.js";

/** Which dead deliveries are meant. */
export interface DeadFilter extends DeadQuery {
  readonly type?: string;
}

export const DEAD_FLAGS: readonly Flag[] = [
  { form: "--endpoint <id>", says: "At this endpoint." },
  { form: "--type <type>", says: "Of events of this type." },
  { form: "--key <key>", says: "Of events with this key; needs --endpoint." },
  { form: "--because <reason>", says: "Given up for this reason: exhausted, refused, forbidden …" },
  { form: "--status <status>", says: "By this last answer, or none." },
  { form: "--error <class>", says: "By this class of error: timeout, dns … or none." },
  { form: "--tenant <name>", says: "Of this tenant." },
  { form: "--since <time>", says: "Given up since then: 24h, or 2027-01-31T12:00:00Z." },
  { form: "--until <time>", says: "Given up before then." },
];

/** A pattern would find nothing, without a word: each value is compared as a whole. */
export function checkDeadFilter(filter: DeadFilter): void {
  for (const name of ["type", "because"] as const) {
    const wanted = filter[name];
    if (wanted?.includes("*") !== true) continue;
    throw new CommandFailure(
      "usage",
      `--${name} is "${wanted}", and is compared as a whole: only endpoints have patterns.`,
      {
        cure: `Name one ${name}, or leave it out.`,
      },
    );
  }
}

/** What the server filters by; it has no index of types. */
export function queryOf(filter: DeadFilter): DeadQuery {
  const { endpoint, key, because, status, error, tenant, since, until } = filter;
  return { endpoint, key, because, status, error, tenant, since, until };
}

/** Whether fewer than all are meant. */
export function isNarrow(filter: DeadFilter): boolean {
  return [filter.type, ...Object.values(queryOf(filter))].some((wanted) => wanted !== undefined);
}

/** What the server does not filter by. */
export function matchesType(letter: DeadLetter, { type }: Pick<DeadFilter, "type">): boolean {
  return type === undefined || type === letter.type;
}
