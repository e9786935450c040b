/**
 * The part of Standard Schema (standardschema.dev) that is used here: Zod, Valibot, ArkType and others
 * all carry it, so none of them has to be known.
 */
export interface Schema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The type that a schema promises. */
export type SchemaOutput<S> = S extends Schema<infer Output> ? Output : unknown;

/** Names the type of an event's data without checking it: the provider is trusted to send what it documents. */
export function typed<Data>(): Schema<Data> {
  return { "~standard": { version: 1, vendor: "posthorn", validate: (value) => ({ value: value as Data }) } };
}

/** One line per issue, with where it is; never the value itself. */
export function describeIssues(issues: readonly SchemaIssue[]): string {
  return issues.slice(0, 5).map(describeIssue).join("; ");
}

function describeIssue({ message, path = [] }: SchemaIssue): string {
  const steps = path.map((step) => String(typeof step === "object" ? step.key : step));
  return steps.length === 0 ? message : `${steps.join(".")}: ${message}`;
}
