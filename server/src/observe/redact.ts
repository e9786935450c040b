/** Fields that are never logged. A last guard: no code should log them in the first place. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  "authorization",
  "cookie",
  "set-cookie",
  "password",
  "secret",
  "secrets",
  "masterkey",
  "firsttoken",
  "body",
  "data",
  "payload",
]);
const DEEPEST = 4;

/** Redacts fields that hold secrets. Objects of classes are left to the log's serializers. */
export function redactFields(
  fields: Readonly<Record<string, unknown>>,
  depth: number = 0,
): Record<string, unknown> {
  const safe: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (SECRET_FIELDS.has(name.toLowerCase())) safe[name] = "[redacted]";
    else if (isPlain(value)) safe[name] = depth < DEEPEST ? redactFields(value, depth + 1) : "[deep]";
    else safe[name] = value;
  }
  return safe;
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

const SECRET_TEXTS =
  /\b(phk_|whsec_|whsk_|sk_live_|sk_test_)[A-Za-z0-9+/_=-]{6,}|(\/\/[^\s:/@"]{0,200}:)[^\s@"/]{1,500}(?=@)|\b(bearer\s+)[A-Za-z0-9._~+/=-]{8,}/gi;

/** Redacts what looks like a secret in a line: messages of drivers may hold anything. */
export function redactText(line: string): string {
  return line.replaceAll(
    SECRET_TEXTS,
    (_, prefix?: string, user?: string, scheme?: string) => `${prefix ?? user ?? scheme ?? ""}[redacted]`,
  );
}
