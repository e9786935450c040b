import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { Page as ApiPage } from "posthorn/client";
import { failureOf } from "../api/api.ts";
import type { Failure } from "../api/api.ts";
import { useLive } from "../api/live.ts";
import type { Live } from "../api/live.ts";
import { setQuery } from "../place/location.ts";
import { count } from "../words/format.ts";
import { useSettled } from "../api/settled.ts";
import type { Settled } from "../api/settled.ts";
import { Act } from "./act.tsx";
import { Icon } from "./icon.tsx";

export const PAGE_SIZE = 100;

/** A list that grows at its end by pages, and is kept up to date at its head. */
export interface Grown<T> extends Settled<T> {
  readonly live: Live<ApiPage<T>>;
  /** Whether there are more that are not shown. */
  readonly more: boolean;
  grow(): Promise<void>;
  readonly failure: Failure | undefined;
}

interface Older<T> {
  readonly key: string;
  readonly items: readonly T[];
  readonly next: string | null;
}

/** Reads a list of the API: its first page again and again, older ones when they are asked for. */
export function useList<T>(
  key: string,
  load: (page: { limit: number; after?: string | undefined }) => Promise<ApiPage<T>>,
  idOf: (row: T) => string,
): Grown<T> {
  const live = useLive(key, () => load({ limit: PAGE_SIZE }));
  const [older, setOlder] = useState<Older<T> | undefined>();
  const [failure, setFailure] = useState<Failure | undefined>();
  const own = older?.key === key ? older : undefined;
  const head = live.data?.items ?? [];
  const next = own === undefined ? (live.data?.next ?? null) : own.next;
  const settled = useSettled(key, joined(head, own?.items ?? [], idOf), idOf);
  const grow = async (): Promise<void> => {
    if (next === null) return;
    try {
      const page = await load({ limit: PAGE_SIZE, after: next });
      // The head goes on growing: what stands there now would fall between the pages.
      setOlder({ key, items: [...(own?.items ?? head), ...page.items], next: page.next });
      setFailure(undefined);
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  return { ...settled, live, more: next !== null, grow, failure };
}

function joined<T>(head: readonly T[], older: readonly T[], idOf: (row: T) => string): readonly T[] {
  const known = new Set(head.map((row) => idOf(row)));
  return [...head, ...older.filter((row) => !known.has(idOf(row)))];
}

/** New rows that wait, so that nothing moves under the pointer. */
export function FreshRows({ of }: { readonly of: Settled<unknown> }): JSX.Element | null {
  if (of.fresh === 0) return null;
  return (
    <button class="fresh" type="button" onClick={() => of.show()}>
      <Icon name="up" />
      {of.fresh} new
    </button>
  );
}

interface ListFootProps {
  readonly of: Grown<unknown>;
  readonly noun: string;
  /** What stands at its head. @default "newest" */
  readonly head?: "newest" | "first";
}

/** The foot of a list: how many are shown, and the way to more. */
export function ListFoot({ of, noun, head = "newest" }: ListFootProps): JSX.Element {
  return (
    <div class="list-foot">
      <span class="small faint">
        {of.more ? `The ${head} ${count(of.rows.length, noun)}` : count(of.rows.length, noun)}
      </span>
      {of.more && (
        <Act small harmless onAct={() => of.grow()}>
          Show {PAGE_SIZE} more
        </Act>
      )}
      {of.failure !== undefined && <span class="bad small">{of.failure.detail}</span>}
    </div>
  );
}

interface ChipProps {
  /** Of the query. */
  readonly name: string;
  readonly value: string;
}

/** A filter that is in force, and can be taken away. */
export function Chip({ name, value }: ChipProps): JSX.Element {
  return (
    <span class="chip">
      <span>
        <span class="k">{name}</span>
        <b class="cut">{value}</b>
      </span>
      <button
        class="x"
        type="button"
        aria-label={`Remove the filter ${name} ${value}`}
        onClick={() => setQuery({ [name]: undefined })}
      >
        <Icon name="x" class="sm" />
      </button>
    </span>
  );
}

interface CellFilterProps {
  readonly name: string;
  readonly value: string;
  readonly children?: ComponentChildren;
}

/** A value in a row that filters the list by itself when it is clicked. */
export function CellFilter({ name, value, children }: CellFilterProps): JSX.Element {
  return (
    <button
      class="cell-filter"
      type="button"
      title={`Only ${name} ${value}`}
      onClick={() => setQuery({ [name]: value })}
    >
      {children ?? value}
    </button>
  );
}
