import { isPosthornError } from "posthorn";
import type { SecretSeal } from "posthorn";
import type { OpenStore } from "../parts.js";
import { CommandFailure } from "../terminal/failure.js";

/** A seal that remembers whether it fitted. Stores go on without a secret that they cannot open; a start must not. */
export class WatchedSeal implements SecretSeal {
  readonly #seal: SecretSeal;
  #opened = false;
  #otherKey: Error | undefined;

  constructor(seal: SecretSeal) {
    this.#seal = seal;
  }

  /** Set where secrets of another key were found, and none of this one. */
  get misfit(): Error | undefined {
    return this.#opened ? undefined : this.#otherKey;
  }

  seal(secret: string): string {
    return this.#seal.seal(secret);
  }

  open(sealed: string): string {
    try {
      const secret = this.#seal.open(sealed);
      this.#opened = true;
      return secret;
    } catch (error) {
      if (isPosthornError(error) && error.code === "seal_other_key") this.#otherKey ??= error;
      throw error;
    }
  }
}

const LOOKED_AT = 50;

/**
 * Looks whether the database was sealed under this key, by opening what it holds. A database with no secret in it is
 * of no key yet. A node with another key would refuse every request and disable every endpoint, one after the other.
 */
export async function checkKey(
  { registry, outbox }: Pick<OpenStore, "registry" | "outbox">,
  seal: WatchedSeal,
): Promise<void> {
  await registry.listSources({ limit: LOOKED_AT });
  await outbox.listEndpoints({ limit: LOOKED_AT });
  if (seal.misfit === undefined) return;
  throw new CommandFailure("failed", "The database was sealed under another master key.", {
    code: "master_key_other",
    cure: seal.misfit.message,
    cause: seal.misfit,
  });
}
