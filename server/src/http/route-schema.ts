/** Text in a path or a query: no control character, which no name holds and Postgres does not take. */
export const PLAIN_TEXT = {
  type: "string",
  minLength: 1,
  maxLength: 255,
  pattern: "^[^\\u0000-\\u001f\\u007f]+$",
} as const;

/** The query of a route; a parameter of any other name is refused. */
export function query(
  properties: Readonly<Record<string, object>>,
  required: readonly string[] = [],
): object {
  return { type: "object", additionalProperties: false, required, properties };
}

/** The one name in a path. */
export function param(name: string): object {
  return { type: "object", required: [name], properties: { [name]: PLAIN_TEXT } };
}

/** What a route says of itself, for OpenAPI, for the validator and for the serializer. */
export interface RouteDescription {
  readonly operationId: string;
  readonly summary: string;
  readonly tag: string;
  readonly params?: object;
  readonly querystring?: object;
  readonly headers?: object;
  readonly body?: object;
  /** By status; what is not named here is not sent. */
  readonly answers: Readonly<Record<number, object>>;
}

/** Of an answer without a body. */
export const NOTHING = { type: "null", description: "Done." } as const;

/** Of bytes that came from outside. */
export const BYTES = {
  description: "The bytes, as an attachment.",
  content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
} as const;

const PROBLEM_ANSWER = {
  description: "A problem, as in RFC 9457.",
  content: { "application/problem+json": { schema: { $ref: "Problem#" } } },
} as const;

/** Makes a schema as Fastify takes it. Without a query of its own, a route takes none. */
export function routeSchema({ tag, answers, ...description }: RouteDescription): object {
  return {
    querystring: query({}),
    ...description,
    tags: [tag],
    security: [{ token: [] }],
    response: { ...described(answers), "4xx": PROBLEM_ANSWER, "5xx": PROBLEM_ANSWER },
  };
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  200: "What was asked for.",
  201: "Made.",
  202: "Durable; delivery follows.",
};

function described(answers: RouteDescription["answers"]): object {
  const entries = Object.entries(answers).map(([status, schema]) => {
    if (schema === NOTHING || schema === BYTES) return [status, schema];
    return [status, { description: DESCRIPTIONS[status], content: { "application/json": { schema } } }];
  });
  return Object.fromEntries(entries) as object;
}
