// Parts of the resources' schemas. A field without a value is null: every answer has every field.

export const INSTANT = { type: "string", format: "date-time" } as const;
export const MAYBE_INSTANT = { type: ["string", "null"], format: "date-time" } as const;
export const MAYBE_TEXT = { type: ["string", "null"] } as const;
export const MAYBE_NUMBER = { type: ["number", "null"] } as const;
/** A decimal text: larger than what a JSON number can hold. */
export const BIG = { type: "string", pattern: "^\\d{1,19}$" } as const;
export const MAYBE_BIG = { type: ["string", "null"], pattern: "^\\d{1,19}$" } as const;
export const TEXTS = { type: "array", items: { type: "string" } } as const;

/** An object with all fields of the client's type; the compiler compares them. */
export function whole<T extends object>(properties: FieldsOf<T>): object {
  return { type: "object", required: Object.keys(properties), properties };
}

/** A schema for each field of a type, and for no other. */
export type FieldsOf<T extends object> = Readonly<Record<keyof T, object>>;

export function base64(bytes: Uint8Array | undefined): string | null {
  return bytes === undefined ? null : Buffer.from(bytes).toString("base64");
}

export function instant(date: Date | undefined): string | null {
  return date === undefined ? null : date.toISOString();
}
