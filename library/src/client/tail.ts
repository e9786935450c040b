import { isPosthornError } from "../posthorn-error.js";
import type { Caller } from "./caller.js";
import type { TailGap, TailMessage, TailQuery } from "./view-resources.js";

export interface TailOptions {
  /** Ends it. @default it goes on until the loop over it is left */
  readonly signal?: AbortSignal | undefined;
  /** Told whether the connection stands: a page says so. */
  readonly onConnection?: ((open: boolean) => void) | undefined;
}

// The server says something every ten seconds: a connection that is silent for longer is dead.
const SILENT_MS = 35_000;

const PASSING: ReadonlySet<string> = new Set(["api_unreachable", "api_unavailable", "api_failed"]);

/** Follows a tail through lost connections. An answer of the server that refuses it is thrown. */
export async function* followTail(
  caller: Caller,
  query: TailQuery,
  { signal, onConnection }: TailOptions,
): AsyncGenerator<TailMessage | TailGap> {
  const left = new AbortController();
  const ended = signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]);
  let { after } = query;
  try {
    for (let failures = 0; !ended.aborted;) {
      try {
        for await (const message of readTail(caller, { ...query, after }, ended)) {
          if (message === "open") onConnection?.(true);
          else {
            failures = 0;
            if (message.kind !== "gap") after = message.id;
            yield message;
          }
        }
      } catch (error) {
        if (ended.aborted) return;
        // What the server refuses it refuses again; a connection that was lost may stand again.
        if (isPosthornError(error) && !PASSING.has(error.code)) throw error;
      }
      onConnection?.(false);
      failures = Math.min(failures + 1, 4);
      await caller.pause(failures, ended);
    }
  } finally {
    left.abort();
  }
}

/** One connection, until it ends. */
async function* readTail(
  caller: Caller,
  { kind, ...rest }: TailQuery,
  ended: AbortSignal,
): AsyncGenerator<TailMessage | TailGap | "open"> {
  const silent = new AbortController();
  const query = { ...rest, kind: kind?.join(",") };
  const signal = AbortSignal.any([ended, silent.signal]);
  const body = await caller.stream({ method: "GET", path: ["tail"], query, repeatable: true }, signal);
  yield "open";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const heard = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => silent.abort(), SILENT_MS);
  };
  const reader = body
    .pipeThrough(new TextDecoderStream() as never)
    .getReader() as ReadableStreamDefaultReader<string>;
  try {
    let text = "";
    for (;;) {
      heard();
      const { value, done } = await reader.read();
      if (done) return;
      const events = (text + value).split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) {
        const message = dataOf(event);
        if (message !== undefined) yield message;
      }
    }
  } finally {
    clearTimeout(timer);
    silent.abort();
  }
}

/** What a server-sent event carries; undefined for a comment. */
function dataOf(event: string): TailMessage | TailGap | undefined {
  const data = event.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []));
  return data.length === 0 ? undefined : (JSON.parse(data.join("\n")) as TailMessage | TailGap);
}
