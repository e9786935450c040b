import type { MemoryTx } from "posthorn/memory";
import type { Compared, ResourceVersion } from "../../../library/src/inbox/handler/newest.js";
import type { Flaw } from "./flaw.js";

/** How a plain map of versions goes about it. */
interface Ways {
  readonly isNewer?: (version: ResourceVersion, known: ResourceVersion) => boolean;
  readonly nameOf?: (version: ResourceVersion) => string;
  readonly keep?: (tx: MemoryTx, write: () => void) => void;
  readonly isMixed?: (one: ResourceVersion, other: ResourceVersion) => boolean;
}

/** Compares with what is committed, and locks nothing. */
function naive(ways: Ways): Flaw {
  const {
    isNewer = (one, known) => one.version > known.version || isAgain(one, known),
    nameOf = ({ consumer, tenant, source, resource }) => JSON.stringify([consumer, tenant, source, resource]),
    keep = (tx, write) => tx.onCommit(write),
    isMixed = (one, other) => one.kind !== other.kind,
  } = ways;
  return {
    wrap: () => {
      const known = new Map<string, ResourceVersion>();
      return {
        newest: (tx, version): Promise<Compared> => {
          const before = known.get(nameOf(version));
          if (before !== undefined && isMixed(before, version)) return Promise.resolve("mixed");
          if (before !== undefined && !isNewer(version, before)) return Promise.resolve("stale");
          keep(tx, () => known.set(nameOf(version), version));
          return Promise.resolve("newest");
        },
      };
    },
  };
}

/** Whether an event brings its version once more. */
function isAgain(one: ResourceVersion, known: ResourceVersion): boolean {
  return one.version === known.version && one.eventId === known.eventId;
}

/** Flaws of comparing versions. */
export const newestFlaws = {
  newest_without_its_lock: naive({}),
  equal_version_is_newest: naive({ isNewer: (one, known) => one.version >= known.version }),
  replayed_version_is_stale: naive({ isNewer: (one, known) => one.version > known.version }),
  versions_rounded: naive({
    isNewer: (one, known) => Number(one.version) > Number(known.version) || isAgain(one, known),
  }),
  rolled_back_version_kept: naive({ keep: (_, write) => write() }),
  versions_of_everybody: naive({ nameOf: ({ resource }) => resource }),
  times_compared_with_numbers: naive({ isMixed: () => false }),
  newest_answers_at_once: {
    wrap: () => ({ newest: () => "newest" as unknown as Promise<Compared> }),
  },
} satisfies Readonly<Record<string, Flaw>>;
