import type { Clock, Verifier } from "posthorn";
import { isPosthornError } from "posthorn";
import { nearest } from "../nearest.js";
import type { SourceRecord } from "../store/source.js";
import { sourceInvalid } from "./source-invalid.js";
import { SOURCE_SCHEMES } from "./source-schemes.js";
import type { OptionKind, SourceScheme } from "./source-schemes.js";

/** The fields of a source that its verifier is made of. */
export type VerifiedBy = Pick<SourceRecord, "scheme" | "secrets" | "options">;

/** Makes the verifier of a source, whose address providers call. Throws `source_invalid`, with the field, when the source is wrong. */
export function sourceVerifier(source: VerifiedBy, clock: Pick<Clock, "now">, address?: string): Verifier {
  const scheme = schemeOf(source.scheme);
  checkOptions(scheme, source);
  try {
    return scheme.make({ ...source.options, secrets: source.secrets, clock }, address);
  } catch (error) {
    if (!isPosthornError(error) || error.code === "source_invalid") throw error;
    throw sourceInvalid(fieldOf(error.code, error.message), error.message.replace(/\.$/, ""), error);
  }
}

function schemeOf(name: string): SourceScheme {
  const scheme = SOURCE_SCHEMES.get(name);
  if (scheme !== undefined) return scheme;
  const near = nearest(name, SOURCE_SCHEMES.keys());
  const hint = near === undefined ? "" : `; did you mean "${near}"?`;
  throw sourceInvalid(
    "scheme",
    `there is no "${name.slice(0, 64)}"${hint === "" ? "." : hint} There are ${[...SOURCE_SCHEMES.keys()].join(", ")}`,
  );
}

function checkOptions(scheme: SourceScheme, source: VerifiedBy): void {
  for (const [name, value] of Object.entries(source.options)) {
    const kind = Object.hasOwn(scheme.options, name) ? scheme.options[name] : undefined;
    if (kind === undefined) throw unknownOption(name, scheme, source.scheme);
    if (!isOfKind(kind, value)) {
      throw sourceInvalid(`options.${name}`, `found ${describe(value)}, expected ${EXPECTED[kind]}`);
    }
  }
}

function unknownOption(name: string, scheme: SourceScheme, of: string): Error {
  const names = Object.keys(scheme.options);
  const near = nearest(name, names);
  const hint = near === undefined ? `it takes ${names.join(", ") || "none"}` : `did you mean "${near}"?`;
  return sourceInvalid(`options.${name.slice(0, 64)}`, `the scheme "${of}" has no such option; ${hint}`);
}

const EXPECTED: Readonly<Record<OptionKind, string>> = {
  text: "a text",
  number: "a number",
  boolean: "true or false",
  place: '{ "header": "x-acme-id" } or { "json": "/id" }',
};

function isOfKind(kind: OptionKind, value: unknown): boolean {
  switch (kind) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "boolean":
      return typeof value === "boolean";
    case "place":
      return typeof value === "object" && value !== null && !Array.isArray(value);
  }
}

function describe(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "a list" : `a value of type ${typeof value}`;
}

/** Finds the field that an error of the library is about: its messages begin with the option's name. */
function fieldOf(code: string, message: string): string {
  if (code.startsWith("secret_")) return "secrets";
  const option = /^([A-Za-z.]+) (?:is|must) /.exec(message)?.[1];
  return option === undefined ? "options" : `options.${option}`;
}
