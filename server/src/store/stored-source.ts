import type { SecretSeal } from "posthorn";
import type { DedupRule, Place } from "posthorn/client";
import type { SourceRecord } from "./source.js";

/** The columns of a source. */
export interface StoredSource {
  readonly name: string;
  readonly tenant: string;
  readonly scheme: string;
  /** Sealed texts, as JSON. */
  readonly secrets: string;
  /** The other fields, as JSON: they are only read together. */
  readonly definition: string;
  readonly createdMs: number;
  readonly version: number;
}

interface Definition {
  readonly options: Readonly<Record<string, unknown>>;
  readonly dedup: DedupRule;
  readonly windowS: number;
  readonly key: Place | null;
  readonly forwardHeaders: readonly string[];
}

export function storedSource(source: SourceRecord, seal: SecretSeal): StoredSource {
  const { name, tenant, scheme, secrets, options, dedup, windowS, key, forwardHeaders } = source;
  const definition: Definition = { options, dedup, windowS, key: key ?? null, forwardHeaders };
  return {
    name,
    tenant,
    scheme,
    secrets: JSON.stringify(secrets.map((secret) => seal.seal(secret))),
    definition: JSON.stringify(definition),
    createdMs: source.createdAt.getTime(),
    version: source.version,
  };
}

export function sourceOf(stored: StoredSource, seal: SecretSeal): SourceRecord {
  const { name, tenant, scheme, version } = stored;
  const { options, dedup, windowS, key, forwardHeaders } = JSON.parse(stored.definition) as Definition;
  return Object.freeze({
    name,
    tenant,
    scheme,
    ...openedSecrets(stored.secrets, seal),
    options,
    dedup,
    windowS,
    key: key ?? undefined,
    forwardHeaders,
    createdAt: new Date(stored.createdMs),
    version,
  });
}

// A source sealed under another key is read without its secrets: it must not make all others unreadable.
function openedSecrets(sealed: string, seal: SecretSeal): Pick<SourceRecord, "secrets" | "unopened"> {
  try {
    return { secrets: (JSON.parse(sealed) as string[]).map((text) => seal.open(text)) };
  } catch (error) {
    return { secrets: [], unopened: error instanceof Error ? error.message : String(error) };
  }
}
