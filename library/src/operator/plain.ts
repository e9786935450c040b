/**
 * A value as it leaves the engine: sequences and ids that a JSON number cannot hold are decimal texts, so that
 * `JSON.stringify` takes it as it is.
 */
export type Plain<T> = T extends bigint
  ? string
  : T extends Date | Uint8Array
    ? T
    : T extends readonly (infer Item)[]
      ? readonly Plain<Item>[]
      : T extends object
        ? { readonly [Field in keyof T]: Plain<T[Field]> }
        : T;

export function plain<T>(value: T): Plain<T> {
  return written(value) as Plain<T>;
}

function written(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map(written);
  return Object.fromEntries(Object.entries(value).map(([field, each]) => [field, written(each)]));
}
