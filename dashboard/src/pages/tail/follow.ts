import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { TailGap, TailMessage, TailQuery } from "posthorn/client";
import { api, failureOf } from "../../api/api.ts";
import type { Failure } from "../../api/api.ts";
import { paused } from "../../api/live.ts";
import { added, KEPT } from "./tail-rows.ts";
import type { TailRow } from "./tail-rows.ts";

export interface Followed {
  readonly rows: readonly TailRow[];
  /** How many have come since it was paused. */
  readonly waiting: number;
  readonly open: boolean;
  readonly failure: Failure | undefined;
  clear(): void;
}

const DRAW_MS = 150;
let counted = 0;

/** Follows what happens, a few times a second; what comes while it is paused waits. */
export function useTail(query: TailQuery): Followed {
  const [rows, setRows] = useState<readonly TailRow[]>([]);
  const [open, setOpen] = useState(false);
  const [failure, setFailure] = useState<Failure | undefined>();
  const [waiting] = useState(() => signal<readonly TailRow[]>([]));
  const key = JSON.stringify(query);
  useEffect(() => {
    const ended = new AbortController();
    setRows([]);
    waiting.value = [];
    void follow(query, ended.signal, {
      tell: (message) => (waiting.value = [...waiting.value, { ...message, n: counted++ }].slice(-KEPT)),
      setOpen,
      setFailure,
    });
    const timer = setInterval(() => {
      if (paused.value || waiting.value.length === 0) return;
      const fresh = waiting.value;
      waiting.value = [];
      setRows((before) => added(before, fresh));
    }, DRAW_MS);
    return () => {
      ended.abort();
      clearInterval(timer);
    };
  }, [key]);
  return { rows, waiting: paused.value ? waiting.value.length : 0, open, failure, clear: () => setRows([]) };
}

interface Told {
  readonly tell: (message: TailMessage | TailGap) => void;
  readonly setOpen: (open: boolean) => void;
  readonly setFailure: (failure: Failure | undefined) => void;
}

async function follow(
  query: TailQuery,
  signal_: AbortSignal,
  { tell, setOpen, setFailure }: Told,
): Promise<void> {
  try {
    for await (const message of api.tail(query, { signal: signal_, onConnection: setOpen })) tell(message);
  } catch (error) {
    setFailure(failureOf(error));
  }
}
