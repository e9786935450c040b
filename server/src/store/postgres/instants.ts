/** A column of an instant as its milliseconds, in text: the driver's own reading of times can be changed by anybody. */
export function msOf(column: string): string {
  return `(extract(epoch from ${column}) * 1000)::int8::text`;
}

/** A parameter of milliseconds as an instant. */
export function instantOf(parameter: string): string {
  return `to_timestamp(${parameter}::text::float8 / 1000)`;
}

export function dateOf(ms: string): Date;
export function dateOf(ms: string | null): Date | undefined;
export function dateOf(ms: string | null): Date | undefined {
  return ms === null ? undefined : new Date(Number(ms));
}
