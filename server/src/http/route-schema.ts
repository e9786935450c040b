/** Text in a path or a query. No name holds control characters, and Postgres refuses some of them. */
export const PLAIN_TEXT = {
  type: "string",
  minLength: 1,
  maxLength: 255,
  pattern: "^[^\\u0000-\\u001f\\u007f]+$",
} as const;

/** The query of a route; unknown parameters are refused. */
export function query(
  properties: Readonly<Record<string, object>>,
  required: readonly string[] = [],
): object {
  return { type: "object", additionalProperties: false, required, properties };
}

/** The one parameter of a path. */
export function param(name: string): object {
  return { type: "object", required: [name], properties: { [name]: PLAIN_TEXT } };
}

/** Describes a route for OpenAPI, the validator and the serializer. */
export interface RouteDescription {
  readonly operationId: string;
  readonly summary: string;
  readonly tag: string;
  readonly params?: object;
  readonly querystring?: object;
  readonly headers?: object;
  readonly body?: object;
  /** By status. The serializer leaves out fields that the schema does not name. */
  readonly answers: Readonly<Record<number, object>>;
}

/** The schema of an answer without a body. */
export const NOTHING = { type: "null", description: "Done." } as const;

/** The schema of an attachment. */
export const BYTES = {
  description: "The bytes, as an attachment.",
  content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
} as const;

const PROBLEM_ANSWER = {
  description: "A problem, as in RFC 9457.",
  content: { "application/problem+json": { schema: { $ref: "Problem#" } } },
} as const;

/** Makes a schema for Fastify. A route without `querystring` takes no parameters. */
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
    if (schema === NOTHING || "content" in schema) return [status, schema];
    return [status, { description: DESCRIPTIONS[status], content: { "application/json": { schema } } }];
  });
  return Object.fromEntries(entries) as object;
}
