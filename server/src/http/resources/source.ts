import type { Source, SourceInput, SourceUpdate } from "posthorn/client";
import { sourceAddress } from "../../ingest/source-address.js";
import type { SourceRecord } from "../../store/source.js";
import type { FieldsOf } from "./text.js";
import { INSTANT, MAYBE_TEXT, TEXTS, whole } from "./text.js";

const POINTERS = { type: "array", maxItems: 64, items: { type: "string", maxLength: 1000 } } as const;

const DEDUP = {
  type: "object",
  required: ["by"],
  additionalProperties: false,
  properties: {
    by: { type: "string", enum: ["id", "content", "both"] },
    content: {
      type: "string",
      enum: ["raw", "json"],
      description: "The exact bytes, or the canonical form of RFC 8785.",
    },
    include: { ...POINTERS, description: "JSON pointers to what counts; everything when it is left out." },
    exclude: { ...POINTERS, description: "JSON pointers to what does not count." },
  },
} as const;

const KEY = {
  type: ["object", "null"],
  additionalProperties: false,
  minProperties: 1,
  maxProperties: 1,
  properties: {
    header: { type: "string", minLength: 1, maxLength: 255 },
    json: { type: "string", maxLength: 1000, description: "A JSON pointer." },
  },
} as const;

const INPUT = {
  scheme: { type: "string", maxLength: 64, description: "A provider's scheme, `hmac`, or `none`." },
  secrets: {
    type: "array",
    maxItems: 16,
    items: { type: "string", minLength: 1, maxLength: 4096 },
    description: "Never shown again.",
  },
  options: {
    type: "object",
    additionalProperties: true,
    description: "What the scheme asks for beside its secrets.",
  },
  tenant: { type: "string", minLength: 1, maxLength: 255 },
  dedup: DEDUP,
  windowS: { type: "integer", minimum: 1, description: "How long a duplicate is known, in seconds." },
  key: { ...KEY, description: "Where the key stands by which its events are in order." },
  forwardHeaders: {
    type: "array",
    maxItems: 64,
    items: { type: "string", minLength: 1, maxLength: 255 },
    description: "Patterns of headers that are sent on, `*` for any text.",
  },
  allowUnverified: { type: "boolean", description: "Must be true for the scheme `none`." },
} as const satisfies FieldsOf<SourceUpdate>;

export const SOURCE_INPUT: object = {
  $id: "SourceInput",
  type: "object",
  required: ["name", "scheme"],
  additionalProperties: false,
  properties: {
    name: {
      type: "string",
      pattern: "^[a-z0-9][a-z0-9_-]{0,63}$",
      description: "Lower-case letters, digits, `-`, `_`.",
    },
    ...INPUT,
  } satisfies FieldsOf<SourceInput>,
};

export const SOURCE_UPDATE: object = {
  $id: "SourceUpdate",
  type: "object",
  minProperties: 1,
  additionalProperties: false,
  properties: INPUT,
};

export const SOURCE: object = {
  $id: "Source",
  ...whole<Source>({
    name: { type: "string" },
    scheme: { type: "string" },
    secretCount: { type: "integer" },
    options: { type: "object", additionalProperties: true },
    tenant: { type: "string" },
    dedup: DEDUP,
    windowS: { type: "integer" },
    key: KEY,
    forwardHeaders: TEXTS,
    path: { type: "string", description: "Where the provider sends to." },
    url: { ...MAYBE_TEXT, description: "The whole address, where the server has a `public_url`." },
    createdAt: INSTANT,
  }),
};

export function showSource(source: SourceRecord, publicUrl?: string): Source {
  return {
    name: source.name,
    scheme: source.scheme,
    secretCount: source.secrets.length,
    options: source.options,
    tenant: source.tenant,
    dedup: source.dedup,
    windowS: source.windowS,
    key: source.key ?? null,
    forwardHeaders: source.forwardHeaders,
    path: `/in/${source.name}`,
    url: sourceAddress(source.name, publicUrl) ?? null,
    createdAt: source.createdAt.toISOString(),
  };
}
