import { signal } from "@preact/signals";
import type { Series, Status } from "posthorn/client";
import { api } from "./api.ts";
import { useLive } from "./live.ts";
import type { Live } from "./live.ts";

/** What the server says of itself, for the navigation and the palette; undefined until it has answered. */
export const status = signal<Status | undefined>(undefined);

/** How all of it stands. Every page asks, so that trouble is seen from everywhere; many readers are one question. */
export function useStatus(): Live<Status> {
  const live = useLive("status", () => api.status());
  if (live.data !== undefined && live.data !== status.value) status.value = live.data;
  return live;
}

const DAY_MS = 30_000;

/** The counters of the last 24 hours, for the small lines in tables. */
export function useDay(): Live<Series> {
  return useLive("series of the day", () => api.series({ since: "24h", step: 3600 }), { everyMs: DAY_MS });
}
