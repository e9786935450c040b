import { notify } from "../../observer.js";
import type { Observer } from "../../observer.js";
import type { RedisCommands } from "./client.js";

/** A setting that takes back what one would expect of a store; `value` is "unknown" where it may not be read. */
export interface LostPromise {
  readonly setting: string;
  readonly value: string;
  readonly expected: string;
}

// Another policy forgets ids when memory is short; without an append-only file a restart forgets all of them;
// synced less than always, a crash forgets the latest.
const EXPECTED: readonly (readonly [setting: string, expected: string])[] = [
  ["maxmemory-policy", "noeviction"],
  ["appendonly", "yes"],
  ["appendfsync", "always"],
];

/** Reads the settings on which remembering depends, and reports those that are not as they should be. */
export async function findLostPromises(
  commands: RedisCommands,
  observer: Observer | undefined,
): Promise<readonly LostPromise[]> {
  const lost: LostPromise[] = [];
  for (const [setting, expected] of EXPECTED) {
    const value = await settingOf(commands, setting);
    if (value === expected) continue;
    lost.push({ setting, value, expected });
    notify(observer, { kind: "store_promise_lost", store: "redis", setting, value, expected });
  }
  return lost;
}

async function settingOf(commands: RedisCommands, setting: string): Promise<string> {
  try {
    return (await commands.setting(setting)) ?? "unknown";
  } catch {
    // Managed services forbid CONFIG; what cannot be read is not promised.
    return "unknown";
  }
}
