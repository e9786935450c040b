import { isPosthornError, PosthornError } from "posthorn";
import type { AuditRegistry, DeadNoteRegistry } from "./audit.js";
import type { OperationRegistry } from "./operation.js";
import type { RejectedRegistry } from "./rejected-request.js";
import type { SeriesRegistry } from "./series.js";
import type { SessionRegistry } from "./session.js";
import type { SourceRegistry } from "./source.js";
import type { TokenRegistry } from "./token.js";

/** The server's own tables, in the same database as the library's inbox and outbox. */
export interface Registry
  extends SourceRegistry, TokenRegistry, SessionRegistry, RejectedRegistry, SeriesRegistry {
  readonly operations: OperationRegistry;
  readonly audit: AuditRegistry & DeadNoteRegistry;
  /** Writes one row and waits until it is durable, to see whether the database accepts writes. */
  probeWrite(node: string): Promise<void>;
}

/** The parts of a registry. */
interface RegistryParts {
  readonly sources: Required<SourceRegistry>;
  readonly tokens: TokenRegistry;
  readonly sessions: SessionRegistry;
  readonly rejected: RejectedRegistry;
  readonly series: SeriesRegistry;
  readonly operations: Registry["operations"];
  readonly audit: Registry["audit"];
  readonly probeWrite: Registry["probeWrite"];
}

/** Joins the parts into one registry. */
export function joinRegistry({
  sources,
  tokens,
  sessions,
  rejected,
  series,
  operations,
  audit,
  probeWrite,
}: RegistryParts): Registry {
  return Object.freeze<Registry>({
    addSource: (source) => sources.addSource(source),
    changeSource: (name, decide) => sources.changeSource(name, decide),
    removeSource: (name) => sources.removeSource(name),
    readSource: (name) => sources.readSource(name),
    listSources: (page) => sources.listSources(page),
    sourcesVersion: () => sources.sourcesVersion(),
    onSourcesChanged: (listener) => sources.onSourcesChanged(listener),
    addToken: (token) => tokens.addToken(token),
    addFirstToken: (token) => tokens.addFirstToken(token),
    findToken: (hash) => tokens.findToken(hash),
    removeToken: (id, at) => tokens.removeToken(id, at),
    listTokens: (page) => tokens.listTokens(page),
    touchToken: (id, at) => tokens.touchToken(id, at),
    addSession: (session) => sessions.addSession(session),
    findSession: (hash) => sessions.findSession(hash),
    removeSession: (hash) => sessions.removeSession(hash),
    recordRejected: (requests, keepPerSource) => rejected.recordRejected(requests, keepPerSource),
    listRejected: (page) => rejected.listRejected(page),
    removeRejected: (before, limit) => rejected.removeRejected(before, limit),
    readRejected: (id) => rejected.readRejected(id),
    dropRejected: (id) => rejected.dropRejected(id),
    recordSeries: (node, rows) => series.recordSeries(node, rows),
    readSeries: (span) => series.readSeries(span),
    lastSeen: (kind, since) => series.lastSeen(kind, since),
    forgetSeries: (step, before, limit) => series.forgetSeries(step, before, limit),
    recordNode: (node) => series.recordNode(node),
    forgetNode: (name) => series.forgetNode(name),
    listNodes: (withinMs) => series.listNodes(withinMs),
    operations,
    audit,
    probeWrite,
  });
}

/** Turns an error of the database into `store_not_migrated` or `store_unavailable`. */
export function registryFailure(error: unknown, missingTable: (error: unknown) => boolean): PosthornError {
  if (isPosthornError(error)) return error;
  const found = error instanceof Error ? error.message : String(error);
  if (missingTable(error)) {
    return new PosthornError(
      "store_not_migrated",
      `The database lacks the server's tables (${found}). Run \`posthorn migrate\`.`,
      { cause: error },
    );
  }
  return new PosthornError("store_unavailable", `The database did not answer as it should: ${found}`, {
    cause: error,
  });
}
