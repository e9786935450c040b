// Two copies of the package can meet in one process, and `instanceof` then lies; the brand does not.
const BRAND = Symbol.for("posthorn.error");

/** Facts behind an error, safe to log: never a secret, never a payload. */
export type ErrorDetail = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/**
 * The one error that Posthorn throws. Match on `code`; `message` says what was found, what was
 * expected and how to mend it, and is meant for logs, not for replies.
 */
export class PosthornError<Code extends string = string> extends Error {
  override readonly name = "PosthornError";
  readonly code: Code;
  readonly detail: ErrorDetail;

  constructor(code: Code, message: string, options: { detail?: ErrorDetail; cause?: unknown } = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.detail = options.detail ?? {};
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/** Says whether a caught value is a {@link PosthornError}, from whichever copy of the package. */
export function isPosthornError(value: unknown): value is PosthornError {
  return typeof value === "object" && value !== null && BRAND in value;
}
