import type { EventName, HistoryWriter } from "posthorn/testing";
import type { HostOptions } from "./host.js";

/** The host's database, seen by somebody who is neither the host nor Posthorn. */
export interface Database {
  readonly name: HostOptions["store"];
  /** What the host is started with. */
  readonly options: HostOptions;
  /** How many effects an event has now. */
  effectsOf(event: EventName): Promise<number>;
  /** Writes the effects and the rows of one test, whose ids begin with its scope, to the history. */
  readEnd(scope: string, reader: HistoryWriter): Promise<void>;
  close(): Promise<void>;
}

/** The host's tables. No unique key: work that was done twice must be two rows. */
export const EFFECT_TABLES = (bytes: string): string => `
  create table effect (tenant text, source text, event_id text, body ${bytes}, done_by text);
  create table counter (scope text, slot integer, n integer, primary key (scope, slot));`;

/** Rows as they were read. */
export interface EndRows {
  readonly effects: readonly (EventName & { readonly body: Uint8Array; readonly by: string })[];
  readonly counted: number;
  readonly stored: readonly (EventName & {
    readonly body: Uint8Array;
    readonly hashColumn: Uint8Array;
    readonly outcome: string;
  })[];
}
