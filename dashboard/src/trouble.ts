import { signal } from "@preact/signals";
import type { DeadLetter, Lane, Page } from "posthorn/client";
import { api } from "./api.ts";
import { useLive } from "./live.ts";
import type { Live } from "./live.ts";
import { needsPerson } from "./words.ts";

const LANES = 200;
const DEAD = 200;

/** What waits for a person, as the navigation shows it: empty, `3`, `200+`. */
export const trouble = signal({ halted: "", dead: "" });

/** The first lanes, the blocked ones at their head. Every page asks for them, so that trouble is seen from everywhere. */
export function useLanes(): Live<Page<Lane>> {
  return useLive("lanes", () => api.lanes.list({ limit: LANES }));
}

/** The newest dead letters. */
export function useDead(): Live<Page<DeadLetter>> {
  return useLive("dead", () => api.dead.list({ limit: DEAD }));
}

/** Keeps the figures of the navigation. */
export function useTrouble(): void {
  const lanes = useLanes().data;
  const dead = useDead().data;
  const halted = lanes?.items.filter((lane) => needsPerson(lane)).length ?? 0;
  const all = lanes !== undefined && halted === lanes.items.length && lanes.next !== null;
  const next = {
    halted: figure(halted, all),
    dead: figure(dead?.items.length ?? 0, (dead?.next ?? null) !== null),
  };
  if (next.halted !== trouble.value.halted || next.dead !== trouble.value.dead) trouble.value = next;
}

/** `3`, or `200+` where there are more than were asked for; empty for none. */
export function figure(n: number, more: boolean): string {
  if (n === 0) return "";
  return more ? `${n}+` : String(n);
}
