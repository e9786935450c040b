import type { Registry } from "./registry.js";
import type { RejectedRegistry } from "./rejected-request.js";
import type { SessionRegistry } from "./session.js";
import type { SourceRegistry } from "./source.js";
import type { TokenRegistry } from "./token.js";

/** The parts of a registry, each for itself. */
export interface RegistryParts {
  readonly sources: Required<SourceRegistry>;
  readonly tokens: TokenRegistry;
  readonly sessions: SessionRegistry;
  readonly rejected: RejectedRegistry;
  readonly probeWrite: Registry["probeWrite"];
}

/** One registry of its parts. */
export function joinRegistry({ sources, tokens, sessions, rejected, probeWrite }: RegistryParts): Registry {
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
    addSession: (session) => sessions.addSession(session),
    findSession: (hash) => sessions.findSession(hash),
    removeSession: (hash) => sessions.removeSession(hash),
    recordRejected: (requests, keepPerSource) => rejected.recordRejected(requests, keepPerSource),
    listRejected: (page) => rejected.listRejected(page),
    readRejected: (id) => rejected.readRejected(id),
    probeWrite,
  });
}
