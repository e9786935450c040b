import { randomBytes } from "node:crypto";
import { isPosthornError } from "posthorn";
import type { OpenStore } from "../parts.js";
import { expect, it } from "vitest";
import { checkKey, WatchedSeal } from "./key-check.js";
import { createSeal } from "./seal.js";

const ours = createSeal(randomBytes(32));
const theirs = createSeal(randomBytes(32));

/** A database that holds these, and goes on without what it cannot open, as the stores do. */
function holding(sealed: readonly string[], seal: WatchedSeal): Pick<OpenStore, "registry" | "outbox"> {
  const list = (): Promise<never[]> => {
    for (const secret of sealed) {
      try {
        seal.open(secret);
      } catch (error) {
        expect(isPosthornError(error)).toBe(true);
      }
    }
    return Promise.resolve([]);
  };
  return { registry: { listSources: list }, outbox: { listEndpoints: list } } as never;
}

async function checked(sealed: readonly string[]): Promise<void> {
  const seal = new WatchedSeal(ours);
  await checkKey(holding(sealed, seal), seal);
}

it("a database without a secret, or with those of this key, is taken", async () => {
  await checked([]);
  await checked([ours.seal("a"), ours.seal("b")]);
});

it("a database of another key is refused, and the key that it needs is named", async () => {
  await expect(checked([theirs.seal("a")])).rejects.toMatchObject({
    code: "master_key_other",
    cure: expect.stringMatching(/sealed under the master key [0-9a-f]{12}/) as string,
  });
});

it("one secret of another key, or one that was changed, does not stop a server whose key fits the others", async () => {
  await checked([theirs.seal("a"), ours.seal("b")]);
  await checked([`${ours.seal("a").slice(0, -4)}AAAA`]);
});
