import { decodeBase64, utf8 } from "../bytes.js";
import { absoluteUrl, doubtOfText } from "./request-rules.js";
import type { BodyReading } from "./request-rules.js";

/** An HTTP event of AWS Lambda: API Gateway v1 and v2, Function URL, Application Load Balancer. */
export interface LambdaEvent {
  readonly version?: string;
  readonly body?: unknown;
  /** Where middy's JSON parser keeps the text. */
  readonly rawBody?: unknown;
  readonly isBase64Encoded?: boolean;
  readonly headers?: Readonly<Record<string, string | undefined>> | null;
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[] | undefined>> | null;
  readonly pathParameters?: Readonly<Record<string, string | undefined>> | null;
  readonly queryStringParameters?: Readonly<Record<string, string | undefined>> | null;
  readonly multiValueQueryStringParameters?: Readonly<Record<string, readonly string[] | undefined>> | null;
  /** Version 1 and load balancers. */
  readonly httpMethod?: string;
  readonly path?: string;
  /** Version 2 and Function URLs. */
  readonly rawPath?: string;
  readonly rawQueryString?: string;
  readonly requestContext?: {
    readonly http?: { readonly method?: string };
    readonly elb?: unknown;
    /** Version 1: the path with its stage, as the sender asked for it. */
    readonly path?: string;
    readonly domainName?: string;
  };
}

/** Who made the event, which decides how the reply has to look. */
export type LambdaOrigin = "api_gateway_v1" | "api_gateway_v2" | "load_balancer" | "load_balancer_multi";

/** Headers, single or in lists. */
type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>;

/** What all four kinds of events say, in one form. */
export interface LambdaRequest {
  readonly origin: LambdaOrigin;
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly headers: HeaderRecord;
}

/** Reads an event; undefined where it is no HTTP event. */
export function readLambdaEvent(event: LambdaEvent): LambdaRequest | undefined {
  const { requestContext } = event;
  const v2 = requestContext?.http?.method;
  if (v2 !== undefined) {
    const headers = event.headers ?? {};
    const path = event.rawPath ?? "/";
    const query = event.rawQueryString ?? "";
    return requestOf({ origin: "api_gateway_v2", method: v2, path, headers }, event, query);
  }
  if (event.httpMethod === undefined || event.path === undefined) return undefined;
  const elb = requestContext?.elb !== undefined;
  const multi = event.multiValueHeaders ?? undefined;
  const origin = elb ? (multi === undefined ? "load_balancer" : "load_balancer_multi") : "api_gateway_v1";
  const { httpMethod: method, path } = event;
  return requestOf(
    { origin, method, path, headers: multi ?? event.headers ?? {} },
    event,
    queryOf(event, elb),
  );
}

function requestOf(known: Omit<LambdaRequest, "url">, event: LambdaEvent, query: string): LambdaRequest {
  const { domainName, path: staged } = event.requestContext ?? {};
  const asked = (staged ?? known.path) + (query === "" ? "" : `?${query}`);
  return { ...known, url: absoluteUrl(asked, "https", domainName ?? hostOf(known.headers)) };
}

function hostOf(headers: HeaderRecord): string | undefined {
  const host = headers["host"] ?? headers["Host"];
  return typeof host === "string" ? host : host?.[0];
}

/** API Gateway hands over decoded parameters, a load balancer those of the request line. */
function queryOf(event: LambdaEvent, elb: boolean): string {
  const single = event.queryStringParameters ?? {};
  const many = event.multiValueQueryStringParameters ?? wrapped(single);
  const encode = elb ? (text: string): string => text : encodeURIComponent;
  return Object.entries(many)
    .flatMap(([name, values = []]) => values.map((value) => `${encode(name)}=${encode(value)}`))
    .join("&");
}

function wrapped(single: Readonly<Record<string, string | undefined>>): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(single).flatMap(([name, value]) => (value === undefined ? [] : [[name, [value]]])),
  );
}

const BINARY_CURE =
  "set binaryMediaTypes (API Gateway REST: '*/*'), or use an HTTP API or a Function URL, which hand over base64";
const PARSER_CURE =
  "take the JSON parser (middy's httpJsonBodyParser) off this function: the handler needs event.body as it came";

/** The exact bytes of an event's body. */
export function readLambdaBody(event: LambdaEvent): BodyReading | { readonly kind: "not_base64" } {
  const body = typeof event.rawBody === "string" ? event.rawBody : (event.body ?? "");
  if (typeof body !== "string") return { kind: "parsed", cure: PARSER_CURE };
  if (event.isBase64Encoded !== true)
    return { kind: "bytes", bytes: utf8(body), doubt: doubtOfText(wellFormed(body), BINARY_CURE) };
  const bytes = decodeBase64(body);
  return bytes === undefined ? { kind: "not_base64" } : { kind: "bytes", bytes };
}

/** Half of a surrogate pair becomes a replacement character once it is written as UTF-8. */
function wellFormed(text: string): string {
  return text.toWellFormed();
}
