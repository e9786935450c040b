import type { Clock, Verifier } from "posthorn";
import type { DedupRule, Place, SourceInput } from "posthorn/client";
import {
  dedupFault,
  defaultWindowS,
  forwardFault,
  isHeaderName,
  nameFault,
  parsePlace,
  windowFault,
} from "posthorn/gateway";
import type { SourceChange, SourceRecord } from "../store/source.js";
import { UNVERIFIED } from "./source-schemes.js";
import { sourceInvalid } from "./source-invalid.js";
import { sourceAddress } from "./source-address.js";
import { sourceVerifier } from "./source-verifier.js";

const LONGEST_WINDOW_S = 10 * 365 * 24 * 3600;
const MAX_SECRETS = 16;
const MAX_PATTERNS = 64;
const MAX_PATTERN_LENGTH = 128;

/**
 * Checks a new source and fills in its defaults. Throws `source_invalid`; `detail.field` names the field to change. `publicUrl`
 * is the server's setting.
 */
export function checkSource(input: SourceInput, clock: Pick<Clock, "now">, publicUrl?: string): SourceRecord {
  const { scheme, secrets = [], options = {} } = input;
  checkName(input.name);
  checkSecrets(scheme, secrets);
  checkUnverified(scheme, input.allowUnverified);
  const verifier = sourceVerifier({ scheme, secrets, options }, clock, sourceAddress(input.name, publicUrl));
  return Object.freeze({
    name: input.name,
    tenant: checkedTenant(input.tenant ?? "default"),
    scheme,
    secrets,
    options,
    dedup: checkedDedup(input.dedup, verifier),
    windowS: checkedWindow(input.windowS, verifier),
    key: checkedKey(input.key),
    forwardHeaders: checkedPatterns(input.forwardHeaders ?? []),
    createdAt: new Date(clock.now()),
    version: 1,
  });
}

/** Checks a change together with the fields that it leaves alone, and returns those that it changes. */
export function checkSourceChange(
  before: SourceRecord,
  change: Partial<Omit<SourceInput, "name">>,
  clock: Pick<Clock, "now">,
  publicUrl?: string,
): SourceChange {
  const { name, tenant, scheme, secrets, options, dedup, windowS, key, forwardHeaders } = before;
  // The options belong to the old scheme, and the new scheme may have no id for the old dedup rule.
  const kept = change.scheme === undefined || change.scheme === scheme ? { options, dedup } : {};
  const wasUnverified = scheme === UNVERIFIED ? { allowUnverified: true } : {};
  const checked = checkSource(
    {
      name,
      tenant,
      scheme,
      secrets: change.scheme === UNVERIFIED ? [] : secrets,
      windowS,
      key: key ?? null,
      forwardHeaders,
      ...kept,
      ...wasUnverified,
      ...change,
    },
    clock,
    publicUrl,
  );
  const implied =
    checked.scheme === scheme
      ? []
      : ["options", "dedup", ...(checked.scheme === UNVERIFIED ? ["secrets"] : [])];
  const named = new Set([...Object.keys(change), ...implied]);
  return Object.fromEntries(Object.entries(checked).filter(([field]) => named.has(field)));
}

function checkName(name: unknown): void {
  if (typeof name === "string" && /^[a-z0-9][a-z0-9_-]{0,63}$/.test(name)) return;
  throw sourceInvalid(
    "name",
    'expected 1 to 64 lower-case letters, digits, "-" and "_", beginning with a letter or digit: it is part of the URL',
  );
}

function checkSecrets(scheme: string, secrets: unknown): void {
  if (!Array.isArray(secrets) || !secrets.every((secret) => typeof secret === "string" && secret !== "")) {
    throw sourceInvalid("secrets", "expected a list of texts that are not empty");
  }
  if (secrets.length > MAX_SECRETS) {
    throw sourceInvalid(
      "secrets",
      `found ${secrets.length}, expected at most ${MAX_SECRETS}: each is tried for every request`,
    );
  }
  if (scheme === UNVERIFIED && secrets.length > 0) {
    throw sourceInvalid("secrets", 'the scheme "none" verifies nothing and takes none');
  }
}

function checkUnverified(scheme: string, allowed: boolean | undefined): void {
  if (scheme !== UNVERIFIED || allowed === true) return;
  throw sourceInvalid(
    "allowUnverified",
    'the scheme "none" takes events from anybody who knows the address; say true if that is meant',
  );
}

function checkedTenant(tenant: unknown): string {
  const fault = nameFault(tenant);
  if (fault === undefined) return tenant as string;
  throw sourceInvalid("tenant", fault);
}

/** Whether events of the scheme have ids. The table of schemes says `none` where they have not. */
function hasId({ scheme }: Verifier): boolean {
  return !/^none\b/.test(scheme.identity?.id ?? "");
}

const BY_CONTENT: DedupRule = { by: "content", content: "raw" };

function checkedDedup(given: DedupRule | undefined, verifier: Verifier): DedupRule {
  if (given === undefined) return hasId(verifier) ? { by: "id" } : (verifier.scheme.dedup ?? BY_CONTENT);
  const wrong = dedupFault(given);
  if (wrong?.field === "by") throw sourceInvalid("dedup.by", wrong.fault);
  if (given.by !== "content" && !hasId(verifier)) {
    const cure = ["hmac", UNVERIFIED].includes(verifier.scheme.name) ? "; options.id says where one is" : "";
    throw sourceInvalid("dedup.by", `${verifier.scheme.title} sends no id; expected "content"${cure}`);
  }
  if (wrong !== undefined) throw sourceInvalid(`dedup.${wrong.field}`, wrong.fault);
  if (given.by === "id") return { by: "id" };
  const { by, content, include = [], exclude = [] } = given;
  return {
    by,
    content,
    ...(include.length === 0 ? {} : { include }),
    ...(exclude.length === 0 ? {} : { exclude }),
  };
}

function checkedWindow(windowS: number | undefined, { scheme }: Verifier): number {
  if (windowS === undefined) return defaultWindowS(scheme);
  if (!Number.isInteger(windowS) || windowS <= 0 || windowS > LONGEST_WINDOW_S) {
    throw sourceInvalid("windowS", `expected whole seconds, from 1 to ${LONGEST_WINDOW_S}`);
  }
  const fault = windowFault(windowS, scheme);
  if (fault === undefined) return windowS;
  throw sourceInvalid("windowS", fault);
}

function checkedKey(key: Place | null | undefined): Place | undefined {
  if (key === undefined || key === null) return undefined;
  const place = parsePlace(key);
  if (place !== undefined) return "header" in place ? place : key;
  throw sourceInvalid(
    "key",
    'expected { "header": "x-account" } or { "json": "/data/account" }, or null for no order',
  );
}

function checkedPatterns(given: unknown): readonly string[] {
  if (!Array.isArray(given) || given.length > MAX_PATTERNS) {
    throw sourceInvalid(
      "forwardHeaders",
      `expected a list of up to ${MAX_PATTERNS} names, in which "*" stands for any text`,
    );
  }
  return given.map((pattern: unknown, index) => {
    const field = `forwardHeaders.${index}`;
    if (!isHeaderName(pattern) || pattern.length > MAX_PATTERN_LENGTH) {
      throw sourceInvalid(
        field,
        'expected the name of a header, in which "*" stands for any text, such as "x-github-*"',
      );
    }
    const name = pattern.toLowerCase();
    const fault = name.includes("*") ? undefined : forwardFault(name);
    if (fault !== undefined) throw sourceInvalid(field, `"${name}" ${fault}`);
    return name;
  });
}
