import { everyItem } from "posthorn/client";
import type { Page, PageOptions } from "posthorn/client";
import type { Clock } from "posthorn";
import type { Printer } from "../terminal/printer.js";
import type { Table } from "../terminal/table.js";
import { CommandFailure } from "../terminal/failure.js";
import type { CommandContext } from "./command-context.js";
import { wholeNumber } from "./define-command.js";
import type { Flag } from "./define-command.js";

export interface ListOptions {
  readonly limit: number;
  readonly after?: string;
}

export interface FollowOptions {
  readonly follow?: boolean;
}

/** How `--follow` begins and ends: with so many of the past, until Ctrl-C or until nobody reads the output. */
export function followed(
  { limit, after }: ListOptions,
  { interrupted, terminal, clock }: CommandContext,
): Pick<Following<unknown>, "past" | "clock" | "signal"> {
  if (after !== undefined) {
    throw new CommandFailure("usage", "--after goes back in the list, and --follow goes on with new ones.", {
      cure: "Leave one of them away; --limit says how many of the past --follow shows first.",
    });
  }
  return { past: limit, clock, signal: AbortSignal.any([interrupted(), terminal.outputEnded]) };
}

export const LIST_FLAGS: readonly Flag[] = [
  { form: "--limit <n>", says: "How many at most.", parse: wholeNumber(1, 100_000), initial: 50 },
  { form: "--after <cursor>", says: "Go on where the list before ended." },
];

export const FOLLOW_FLAG: Flag = {
  form: "--follow",
  says: "After --limit of the past, go on with new ones until Ctrl-C; with --json one line each.",
};

export const TENANT_FLAG: Flag = { form: "--tenant <name>", says: "Of this tenant." };

const PAGE = 200;

type List<T> = (page: PageOptions) => Promise<Page<T>>;

/** Reads up to `limit` items of a list, whatever the size of the server's pages. */
export async function collect<T>(
  list: List<T>,
  { limit, after }: ListOptions,
  wanted: (item: T) => boolean = () => true,
): Promise<Page<T>> {
  const items: T[] = [];
  let next: string | null = after ?? null;
  do {
    const page: Page<T> = await list({
      after: next ?? undefined,
      limit: Math.min(PAGE, limit - items.length),
    });
    items.push(...page.items.filter(wanted));
    ({ next } = page);
  } while (next !== null && items.length < limit);
  return { items, next };
}

/** All items of a list. */
export async function collectAll<T>(list: List<T>): Promise<readonly T[]> {
  const items: T[] = [];
  for await (const item of everyItem(list, { limit: PAGE })) items.push(item);
  return items;
}

/** Prints how to see more, where there is more. */
export function hintMore(print: Printer, page: Page<unknown>, command: string): void {
  if (page.next === null) return;
  print.hint({ text: `There are more: ${command} --after ${page.next}`, tone: "faint" });
}

const POLL_MS = 1000;
/** Ids that were printed, so that none is printed twice. Old ones can be dropped: the list begins with the newest. */
const REMEMBERED = 10_000;

export interface Following<T> {
  readonly list: List<T>;
  readonly idOf: (item: T) => string;
  /** Which items are printed. @default all */
  readonly wanted?: (item: T) => boolean;
  readonly tell: (items: readonly T[]) => void;
  /** How many of the past are printed first. */
  readonly past: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Prints the items of a newest-first list, oldest first, and then new ones as they appear. */
export async function follow<T>(following: Following<T>): Promise<void> {
  const { list, idOf, wanted = () => true, tell, past, clock, signal } = following;
  const seen = new Set<string>();
  let isFirst = true;
  while (!signal.aborted) {
    const fresh = isFirst
      ? await pastItems(list, past, wanted)
      : await unseen(list, (item) => seen.has(idOf(item)));
    isFirst = false;
    for (const item of fresh) seen.add(idOf(item));
    for (const old of seen) {
      if (seen.size <= REMEMBERED) break;
      seen.delete(old);
    }
    const told = fresh.filter(wanted);
    if (told.length > 0) tell(told);
    await clock.sleep(POLL_MS, signal);
  }
}

/** Prints followed items: one line of JSON each, or a table that continues. */
export function teller<T>(
  print: Printer,
  table: (items: readonly T[]) => Table,
): (items: readonly T[]) => void {
  let headless = false;
  return (items) => {
    if (print.json) {
      for (const item of items) print.record(item);
      return;
    }
    print.table({ ...table(items), headless });
    headless = true;
  };
}

/** The newest items, so many that `most` of them are wanted, oldest first. */
async function pastItems<T>(
  list: List<T>,
  most: number,
  wanted: (item: T) => boolean,
): Promise<readonly T[]> {
  const found: T[] = [];
  let left = most;
  for await (const item of everyItem(list, { limit: Math.min(PAGE, most) })) {
    found.push(item);
    if (wanted(item)) left--;
    if (left === 0 || found.length >= REMEMBERED) break;
  }
  return found.toReversed();
}

/** Reads pages until an item is known: more may be new than a page holds. */
async function unseen<T>(list: List<T>, known: (item: T) => boolean): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const item of everyItem(list, { limit: PAGE })) {
    if (known(item) || found.length >= REMEMBERED) break;
    found.push(item);
  }
  return found.toReversed();
}
