import { decodeBase64, decodeHex } from "../bytes.js";
import { isHeaderName } from "../event-headers.js";
import type { OptionNames } from "../known-options.js";
import { parsePlace } from "../place.js";
import type { Place, PlaceOption } from "../place.js";
import { PosthornError } from "../posthorn-error.js";
import type { EventPlaces } from "./event-places.js";
import { Key } from "./keys/key.js";
import type { Scheme } from "./scheme.js";
import { malformedSecret, textKey } from "./keys/secret.js";
import type { SignatureErrorCode } from "./signature-errors.js";
import type { SignatureForm } from "./headers/signature-header.js";
import type { VerifierOptions } from "./verifier.js";

/** How a provider that has no scheme of its own signs. */
export interface HmacOptions extends VerifierOptions {
  /** Lower-case name of the source: letters, digits and `_`. */
  readonly name: string;
  /** Name for people. @default name */
  readonly title?: string;
  /** The header with the signature. */
  readonly header: string;
  /** @default "sha256" */
  readonly algorithm?: "sha256" | "sha1";
  readonly encoding: "hex" | "base64";
  /** What stands before the signature in its header, such as `sha256=`. */
  readonly prefix?: string;
  /**
   * What is signed, with `{body}` and, where the provider signs them, `{timestamp}`, `{id}` and `{url}`.
   * @default "{body}"
   */
  readonly content?: string;
  /** The header of the signed time; goes with `{timestamp}`. */
  readonly timestampHeader?: string;
  /** @default "s" */
  readonly timestampUnit?: "s" | "ms";
  /** Where the provider's id of an event is, the same on every redelivery. */
  readonly id?: PlaceOption;
  readonly type?: PlaceOption;
  /** When the event happened. @default unit "iso" */
  readonly time?: PlaceOption & { readonly unit?: "iso" | "s" | "ms" };
  /** How long the provider goes on redelivering by itself; 0 = never. Dedup remembers longer. */
  readonly retryHorizonS: number;
  /** How the text of a secret stands for its bytes. @default "utf8" */
  readonly secretEncoding?: "utf8" | "base64" | "hex";
}

export type TemplatePart =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "body" | "timestamp" | "url" }
  /** `mark` is the text that ends the id in the signed content. */
  | { readonly kind: "id"; readonly header: string; readonly mark: string };

/** The names of what describes a provider. */
export const HMAC_OPTIONS: OptionNames<Omit<HmacOptions, keyof VerifierOptions>> = {
  name: true,
  title: true,
  header: true,
  algorithm: true,
  encoding: true,
  prefix: true,
  content: true,
  timestampHeader: true,
  timestampUnit: true,
  id: true,
  type: true,
  time: true,
  retryHorizonS: true,
  secretEncoding: true,
};

/** The description, checked: nothing after this sees the raw options. */
export interface HmacPlan extends EventPlaces {
  readonly name: string;
  readonly title: string;
  readonly algorithm: "hmac_sha256" | "hmac_sha1";
  readonly signature: SignatureForm;
  readonly template: readonly TemplatePart[];
  readonly timestamp: { readonly header: string; readonly unit: "s" | "ms" } | undefined;
  readonly covers: Scheme["covers"];
  readonly retryHorizonS: number;
  readonly parseSecret: (secret: string, name: string) => Key;
}

/** Checks a description and fills in its defaults. Throws `option_invalid`. */
export function checkHmacOptions(options: HmacOptions): HmacPlan {
  const { name, retryHorizonS } = options;
  if (typeof name !== "string" || !/^[a-z][a-z0-9_]{0,63}$/.test(name))
    throw invalid("name", name, 'lower-case letters, digits and "_", such as "acme"');
  if (!Number.isFinite(retryHorizonS) || retryHorizonS < 0)
    throw invalid("retryHorizonS", retryHorizonS, "a number of seconds, 0 if the provider never tries again");
  const algorithm = oneOf("algorithm", options.algorithm ?? "sha256", ["sha256", "sha1"]);
  const mac = algorithm === "sha1" ? "hmac_sha1" : "hmac_sha256";
  const encoding = oneOf("encoding", options.encoding, ["hex", "base64"]);
  const secretEncoding = oneOf("secretEncoding", options.secretEncoding ?? "utf8", ["utf8", "base64", "hex"]);
  const places = checkEventPlaces(options);
  const { id } = places;
  const template = parseTemplate(options.content ?? "{body}", id);
  const covered = new Set(template.map(({ kind }) => kind));
  return {
    name,
    title: options.title ?? name,
    algorithm: mac,
    signature: { header: headerName("header", options.header), encoding, prefix: options.prefix ?? "" },
    template,
    timestamp: timestampOf(options, covered.has("timestamp")),
    ...places,
    covers: {
      body: true,
      url: covered.has("url"),
      time: covered.has("timestamp"),
      id: covered.has("id") || id === undefined || "pointer" in id,
    },
    retryHorizonS,
    parseSecret: secretParser(mac, secretEncoding),
  };
}

/** Checks where a request carries its event's id, type and time. Throws `option_invalid`. */
export function checkEventPlaces(options: Pick<HmacOptions, "id" | "type" | "time">): EventPlaces {
  return { id: place("id", options.id), type: place("type", options.type), time: timePlace(options.time) };
}

function parseTemplate(content: string, id: Place | undefined): readonly TemplatePart[] {
  const texts = content.split(/(\{[a-z]+\})/).filter((text) => text !== "");
  const parts = texts.map((text, index) => templatePart(text, texts[index + 1], id));
  for (const kind of ["body", "timestamp", "url", "id"] as const) {
    const count = parts.filter((part) => part.kind === kind).length;
    if (count > 1) throw invalid("content", content, `{${kind}} at most once`);
    // Whoever has one request could put another body under its signature.
    if (kind === "body" && count === 0) throw invalid("content", content, "a text with {body} in it");
  }
  return parts;
}

function templatePart(text: string, next: string | undefined, id: Place | undefined): TemplatePart {
  switch (text) {
    case "{body}":
      return { kind: "body" };
    case "{timestamp}":
      return { kind: "timestamp" };
    case "{url}":
      return { kind: "url" };
    case "{id}":
      if (id === undefined || !("header" in id))
        throw invalid("id", id, 'a header such as { header: "x-acme-id" }, because `content` has {id}');
      // Without a mark, characters could move from the id to what follows under the same signature.
      if (next === undefined || /^\{[a-z]+\}$/.test(next))
        throw invalid("content", next ?? "", 'a character such as "." after {id}');
      return { kind: "id", header: id.header, mark: next };
    default:
      if (/^\{[a-z]+\}$/.test(text))
        throw invalid("content", text, "{body}, {timestamp}, {id} or {url} between the braces");
      return { kind: "literal", text };
  }
}

function timestampOf(options: HmacOptions, signed: boolean): HmacPlan["timestamp"] {
  const { timestampHeader } = options;
  const unit = oneOf("timestampUnit", options.timestampUnit ?? "s", ["s", "ms"]);
  if (timestampHeader === undefined) {
    if (!signed) return undefined;
    throw invalid("timestampHeader", undefined, "the header of the time, because `content` has {timestamp}");
  }
  // An unsigned time protects nothing: whoever replays the request writes a new one.
  if (!signed)
    throw invalid(
      "timestampHeader",
      timestampHeader,
      "nothing, unless {timestamp} in `content` says where it is signed",
    );
  return { header: headerName("timestampHeader", timestampHeader), unit };
}

function timePlace(option: HmacOptions["time"]): HmacPlan["time"] {
  const found = place("time", option);
  if (found === undefined || option === undefined) return undefined;
  return { ...found, unit: oneOf("time.unit", option.unit ?? "iso", ["iso", "s", "ms"]) };
}

function place(option: string, value: PlaceOption | undefined): Place | undefined {
  const found = value === undefined ? undefined : parsePlace(value);
  if (value === undefined || found !== undefined) return found;
  throw invalid(
    option,
    value,
    '{ header: "x-acme-id" } or { json: "/id" }, a JSON pointer that starts with "/"',
  );
}

function headerName(option: string, value: unknown): string {
  if (isHeaderName(value)) return value.toLowerCase();
  throw invalid(option, value, 'the name of a header, such as "x-acme-signature"');
}

function oneOf<Value extends string>(option: string, value: Value, allowed: readonly Value[]): Value {
  if (allowed.includes(value)) return value;
  throw invalid(option, value, allowed.map((text) => `"${text}"`).join(" or "));
}

function secretParser(
  algorithm: HmacPlan["algorithm"],
  encoding: "utf8" | "base64" | "hex",
): HmacPlan["parseSecret"] {
  if (encoding === "utf8") return textKey(algorithm);
  return (secret, name) => {
    const bytes = encoding === "hex" ? decodeHex(secret) : decodeBase64(secret);
    if (bytes !== undefined && bytes.length > 0) return new Key(algorithm, name, bytes);
    const cure = "Copy it whole, or set `secretEncoding` to how the provider writes it.";
    throw malformedSecret(name, `is not ${encoding}`, cure);
  };
}

function invalid(option: string, found: unknown, expected: string): PosthornError<SignatureErrorCode> {
  const shown =
    typeof found === "number" ? String(found) : (JSON.stringify(found)?.slice(0, 80) ?? "undefined");
  return new PosthornError("option_invalid", `${option} is ${shown}; expected ${expected}.`, {
    detail: { option },
  });
}
