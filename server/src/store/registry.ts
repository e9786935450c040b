import { isPosthornError, PosthornError } from "posthorn";
import type { RejectedRegistry } from "./rejected-request.js";
import type { SourceRegistry } from "./source.js";
import type { TokenRegistry } from "./token.js";

/** What the server keeps beside the library's inbox and outbox, in the same database. */
export interface Registry extends SourceRegistry, TokenRegistry, RejectedRegistry {
  /** Writes one row and waits until it is durable: whether the database takes anything. */
  probeWrite(node: string): Promise<void>;
}

/** The parts of a registry, each for itself. */
interface RegistryParts {
  readonly sources: Required<SourceRegistry>;
  readonly tokens: TokenRegistry;
  readonly rejected: RejectedRegistry;
  readonly probeWrite: Registry["probeWrite"];
}

/** One registry of its parts. */
export function joinRegistry({ sources, tokens, rejected, probeWrite }: RegistryParts): Registry {
  return Object.freeze<Registry>({
    addSource: (source) => sources.addSource(source),
    changeSource: (name, change) => sources.changeSource(name, change),
    removeSource: (name) => sources.removeSource(name),
    readSource: (name) => sources.readSource(name),
    listSources: (page) => sources.listSources(page),
    sourcesVersion: () => sources.sourcesVersion(),
    onSourcesChanged: (listener) => sources.onSourcesChanged(listener),
    addToken: (token) => tokens.addToken(token),
    addFirstToken: (token) => tokens.addFirstToken(token),
    findToken: (hash) => tokens.findToken(hash),
    removeToken: (id) => tokens.removeToken(id),
    listTokens: (page) => tokens.listTokens(page),
    touchToken: (id, at) => tokens.touchToken(id, at),
    recordRejected: (requests, keepPerSource) => rejected.recordRejected(requests, keepPerSource),
    listRejected: (page) => rejected.listRejected(page),
    readRejected: (id) => rejected.readRejected(id),
    probeWrite,
  });
}

/** An error of the database as the one kind that callers know: try again, or migrate first. */
export function registryFailure(error: unknown, missingTable: (error: unknown) => boolean): PosthornError {
  if (isPosthornError(error)) return error;
  const found = error instanceof Error ? error.message : String(error);
  if (missingTable(error)) {
    return new PosthornError(
      "not_migrated",
      `The database lacks the server's tables (${found}). Run \`posthorn migrate\`.`,
      { cause: error },
    );
  }
  return new PosthornError("store_unavailable", `The database did not answer as it should: ${found}`, {
    cause: error,
  });
}
