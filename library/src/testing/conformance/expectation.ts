// The kit has assertions of its own: with those of a test runner, a store could only be checked by that runner.

const PRINTED = 200;

/** Fails unless both are the same value. */
export function same(found: unknown, promised: unknown, what: string): void {
  if (!Object.is(found, promised)) broken(what, found, promised);
}

/** Fails unless both are equal, field by field and byte by byte. */
export function alike(found: unknown, promised: unknown, what: string): void {
  if (print(found) !== print(promised)) broken(what, found, promised);
}

/** Fails unless both hold the same bytes. */
export function sameBytes(found: Uint8Array | undefined, promised: Uint8Array, what: string): void {
  if (!(found instanceof Uint8Array)) return broken(what, found, "bytes");
  const differs = promised.findIndex((byte, index) => byte !== found[index]);
  if (differs === -1 && found.length === promised.length) return;
  const at = differs === -1 ? Math.min(found.length, promised.length) : differs;
  throw new Error(
    `${what}: found ${found.length} bytes, promised ${promised.length}; byte ${at} is ${found[at]}, not ${promised[at]}.`,
  );
}

/** Fails unless the condition holds. */
export function holds(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`${what}.`);
}

/** Settles as `waiting` does, and fails when that takes as long as only something that waits for another would. */
export function soon<T>(waiting: Promise<T>, what: string, patienceMs = 10_000): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const tooLate = (): void => reject(new Error(`${what}: still waiting after ${patienceMs} ms.`));
    timer = setTimeout(tooLate, patienceMs);
  });
  const settled = Promise.race([waiting, late]).finally(() => clearTimeout(timer));
  // A case that has failed elsewhere awaits this no more; unhandled, it would fail the whole run instead.
  settled.catch(() => undefined);
  return settled;
}

/** Shows a value on one line, with what JSON would drop or throw on. */
export function print(value: unknown): string {
  if (value instanceof Uint8Array) return `bytes[${value.join(" ")}]`;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (Array.isArray(value)) return `[${value.map(print).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).map(([name, field]) => `${name}: ${print(field)}`);
    return `{${fields.toSorted().join(", ")}}`;
  }
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

/** Shows a text that may be very long. */
export function shortly(text: string): string {
  return text.length > 60
    ? `${JSON.stringify(text.slice(0, 40))}… (${text.length} characters)`
    : JSON.stringify(text);
}

function broken(what: string, found: unknown, promised: unknown): never {
  throw new Error(`${what}: found ${cut(print(found))}, promised ${cut(print(promised))}.`);
}

function cut(text: string): string {
  return text.length > PRINTED ? `${text.slice(0, PRINTED)}…` : text;
}
