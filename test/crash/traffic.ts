import type { Chance } from "../chance.js";
import type { EventType, Letter } from "./letter.js";
import { dedupLetter, letterOf } from "./letter.js";
import type { Run } from "./run.js";

/** How often each kind of event comes, so that most points are reached several times. */
const REPEATS = 3;

/**
 * A little of everything that a receiver meets: events that succeed, with and without a result, that fail at
 * first, come again, come again with another body, and forged ones; and a host that dedups in its own transaction.
 */
export async function sendEverything(run: Run, chance: Chance, wave = 1): Promise<void> {
  const kinds = ["counted", "quiet", "flaky", "again", "conflict", "forged", "dedup"] as const;
  await Promise.all(
    kinds.flatMap((kind) =>
      Array.from({ length: REPEATS }, (_, n) =>
        sendOne(run, kind, { id: `${run.scope}-${kind}${wave}x${n}`, chance }),
      ),
    ),
  );
}

async function sendOne(
  run: Run,
  kind: EventType | "again" | "conflict" | "forged" | "dedup",
  { id, chance }: { readonly id: string; readonly chance: Chance },
): Promise<void> {
  const { provider } = run;
  switch (kind) {
    case "counted":
    case "quiet":
    case "flaky":
      await provider.deliver(letterOf(id, kind, chance));
      return;
    case "again": {
      const letter = letterOf(id, "counted", chance);
      await provider.deliver(letter);
      await provider.deliver({ ...letter, path: "/blind" });
      await provider.deliver(letter);
      await flush(run);
      return;
    }
    case "conflict":
      await provider.deliver(letterOf(id, "counted", chance));
      await provider.deliver(letterOf(id, "counted", chance, "another body"));
      return;
    case "forged":
      await provider.deliver({ ...letterOf(id, "counted", chance), genuine: false });
      return;
    case "dedup": {
      const letter: Letter = dedupLetter(id, chance);
      await provider.deliver(letter);
      await provider.deliver(letter);
    }
  }
}

/** Has the receipts of duplicates written now; a host that is killed meanwhile has lost only those. */
async function flush(run: Run): Promise<void> {
  const host = await run.supervisor.host();
  await host.post("/flush", {}).catch(() => undefined);
}
