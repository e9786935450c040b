import type { RegisteredHandler } from "../../lanes/handler-consumer.js";
import { matcherOf } from "../../pattern.js";
import type { Matcher } from "../../pattern.js";
import { TypeTable } from "../handler/handlers.js";

/** The handlers of one consumer: the one rule that says which of them an event has, by its source and type. */
export class HandlerTable<Entry> {
  readonly #names: Matcher;
  readonly #handlers: TypeTable<Entry>;

  constructor(sources: readonly string[], handlers: Readonly<Record<string, Entry>>) {
    this.#names = matcherOf(sources);
    this.#handlers = new TypeTable(handlers, sourcesIn(handlers));
  }

  /**
   * Undefined also where the consumer does not name the source: another version of the host may, and its events must not reach
   * the `*` of a version that has never heard of them.
   */
  find(source: string, type: string): Entry | undefined {
    return this.#names(source) ? this.#handlers.find(source, type) : undefined;
  }
}

/**
 * Whether another version of the host has said that it handles an event which has no handler here. It asks no clock: this
 * worker has registered within the last minute, and that has dropped versions whose hour is over.
 */
export function isHandledByOther(
  { versions }: Pick<RegisteredHandler, "versions">,
  { source, type }: { readonly source: string; readonly type: string },
): boolean {
  return versions.some(({ sources, types }) => {
    const handlers = Object.fromEntries(types.map((key) => [key, true] as const));
    return new HandlerTable(sources, handlers).find(source, type) === true;
  });
}

/** The sources that keys name: a worker is not told which there are, so what stands before a colon is one. */
export function sourcesIn(table: object): ReadonlySet<string> {
  return new Set(Object.keys(table).flatMap((key) => /^([^:]+):/.exec(key)?.[1] ?? []));
}
