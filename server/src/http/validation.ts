import type { FastifySchemaValidationError } from "fastify/types/schema.js";
import { parseJsonPointer } from "posthorn/gateway";
import { nearest } from "../nearest.js";
import { shown } from "./problem.js";

/** What is wrong with a request. */
export interface Fault {
  /** `url`, `0.type`; `body` or `querystring` where all of it is wrong. */
  readonly field: string;
  readonly message: string;
}

type Finding = FastifySchemaValidationError & { readonly parentSchema?: unknown; readonly data?: unknown };

// A longer name cannot be near to one of ours, and comparing it takes long.
const LONGEST_NAME = 64;

/** Picks the finding to report: the deepest one is in the branch that the caller meant. */
export function validationFault(findings: readonly Finding[], part = "body"): Fault {
  const ranked = findings.toSorted((left, right) => rank(right) - rank(left));
  const [finding] = ranked;
  if (finding === undefined) return { field: part, message: `The ${part} is not as it should be.` };
  return describe(finding, part);
}

function rank({ instancePath, keyword }: Finding): number {
  const depth = instancePath.split("/").length * 10;
  // These only say that no branch matched; the findings of the branches say why.
  if (keyword === "oneOf" || keyword === "anyOf" || keyword === "if") return depth - 15;
  // Every other branch reports `type` for a value that was meant for this one.
  return keyword === "type" || keyword === "const" ? depth - 5 : depth;
}

function describe(
  { instancePath, keyword, params, message, parentSchema, data }: Finding,
  part: string,
): Fault {
  const path = parseJsonPointer(instancePath) ?? [];
  const name = keyword === "required" ? unknownKey(data, parentSchema) : params["additionalProperty"];
  if (typeof name === "string") {
    return { field: dotted([...path, name], part), message: unknownName(name, parentSchema, part) };
  }
  if (keyword === "required") {
    const field = dotted([...path, String(params["missingProperty"])], part);
    return { field, message: `${shown(field)} is missing.` };
  }
  const field = dotted(path, part);
  if (keyword === "enum" && Array.isArray(params["allowedValues"])) {
    return { field, message: `${shown(field)} must be one of ${params["allowedValues"].join(", ")}.` };
  }
  // The validator would say that it must NOT have fewer than 1 characters.
  if ((keyword === "minLength" || keyword === "minItems") && params["limit"] === 1)
    return { field, message: `${shown(field)} is empty.` };
  const expected = descriptionOf(parentSchema);
  return {
    field,
    message: `${shown(field)} ${message ?? "is wrong"}${expected === undefined ? "" : ` (${expected})`}.`,
  };
}

/** When a field is missing and another name is unknown, the unknown name is usually a typo of it. */
function unknownKey(data: unknown, schema: unknown): string | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const { properties = {}, additionalProperties } = (schema ?? {}) as {
    properties?: object;
    additionalProperties?: unknown;
  };
  if (additionalProperties !== false) return undefined;
  return Object.keys(data).find((key) => !Object.hasOwn(properties, key));
}

function unknownName(name: string, schema: unknown, part: string): string {
  const known = Object.keys((schema as { properties?: object } | undefined)?.properties ?? {});
  const near = name.length > LONGEST_NAME ? undefined : nearest(name, known);
  const kind = part === "querystring" ? "query parameter" : "field";
  const cure = near === undefined ? `There are: ${known.join(", ") || "none"}` : `Is ${near} meant?`;
  return `There is no ${kind} ${shown(name)}. ${cure}${cure.endsWith("?") ? "" : "."}`;
}

function descriptionOf(schema: unknown): string | undefined {
  const { description } = (schema ?? {}) as { description?: unknown };
  return typeof description === "string" ? description.replace(/\.$/, "") : undefined;
}

function dotted(path: readonly string[], part: string): string {
  return path.length === 0 ? part : path.join(".").slice(0, 200);
}
