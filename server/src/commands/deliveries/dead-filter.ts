import type { DeadLetter } from "posthorn/client";
import { CommandFailure } from "../../terminal/failure.js";
import type { Flag } from "../define-command.js";

/** Which dead deliveries are meant. */
export interface DeadFilter {
  readonly endpoint?: string;
  readonly type?: string;
  readonly key?: string;
  readonly because?: string;
  readonly tenant?: string;
}

export const DEAD_FLAGS: readonly Flag[] = [
  { form: "--endpoint <id>", says: "At this endpoint." },
  { form: "--type <type>", says: "Of events of this type." },
  { form: "--key <key>", says: "Of events with this key." },
  { form: "--because <reason>", says: "Given up for this reason: exhausted, refused, forbidden …" },
  { form: "--tenant <name>", says: "Of this tenant." },
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

/** Whether fewer than all are meant. */
export function isNarrow({ endpoint, type, key, because, tenant }: DeadFilter): boolean {
  return [endpoint, type, key, because, tenant].some((wanted) => wanted !== undefined);
}

export function matchesDead(letter: DeadLetter, filter: DeadFilter): boolean {
  return (
    same(filter.endpoint, letter.endpointId) &&
    same(filter.type, letter.type) &&
    same(filter.key, letter.key) &&
    same(filter.because, letter.because) &&
    same(filter.tenant, letter.tenant)
  );
}

function same(wanted: string | undefined, found: string | null): boolean {
  return wanted === undefined || wanted === found;
}
