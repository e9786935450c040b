import { createStream as createKeyStreams } from "../../../simulator/stored/stream.js";
import type { StreamEvent as KeyEvent } from "../../../simulator/stored/stream.js";
import type { Chance } from "../../chance.js";

/** The sources of host/keeper-process.mjs. Each has consumers of its own: host/stored/consumers.mjs. */
export const STREAM_SOURCES = ["shop", "held", "latest", "jobs", "frail"] as const;

export type StreamSource = (typeof STREAM_SOURCES)[number];

/** An event of a stream, as it is sent; no two sources have the same key. */
export interface StreamEvent extends KeyEvent {
  readonly source: StreamSource;
}

/** The events of one key, in the order in which they are sent. */
export type KeyStream = readonly StreamEvent[];

export interface StreamSize {
  /** Of the source "shop". */
  readonly keys: number;
  /** Of each other source. */
  readonly otherKeys: number;
  readonly versions: number;
}

/** A reordered stream with gaps for each source. */
export function createStream(
  { keys, otherKeys, versions }: StreamSize,
  chance: Chance,
): readonly KeyStream[] {
  return STREAM_SOURCES.flatMap((source) => {
    const streams = createKeyStreams({ keys: source === "shop" ? keys : otherKeys, versions }, chance);
    return streams.map((events) =>
      events.map((event) => Object.assign(event, { source, key: `${source}-${event.key}` })),
    );
  });
}
