import { isPosthornError } from "posthorn";
import type { OpenStore } from "../open-store.js";
import { CommandFailure } from "../terminal/failure.js";

/**
 * Looks whether the database was sealed under this key, by opening what it holds. A database with no secret in it is
 * of no key yet. A node with another key would refuse every request and disable every endpoint, one after the other.
 */
export async function checkKey({ registry, outbox }: Pick<OpenStore, "registry" | "outbox">): Promise<void> {
  try {
    await registry.listSources({ limit: 1 });
    await outbox.listEndpoints({ limit: 1 });
  } catch (error) {
    throw isOtherKey(error) ? otherKey(error) : error;
  }
}

function isOtherKey(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return (isPosthornError(error) && error.code === "seal_other_key") || isOtherKey(error.cause);
}

function otherKey(error: Error): CommandFailure {
  return new CommandFailure("failed", "The database was sealed under another master key.", {
    code: "master_key_other",
    cure: error.message,
    cause: error,
  });
}
