import { INBOX_ERRORS } from "./inbox/inbox-errors.js";
import { SIGNATURE_ERRORS } from "./signature/signature-errors.js";

/**
 * Every code that a PosthornError can carry, with its meaning. Only the main door joins the tables:
 * a bundle of `posthorn/verify` carries none of them.
 */
export const ERROR_CODES: typeof SIGNATURE_ERRORS & typeof INBOX_ERRORS = {
  ...SIGNATURE_ERRORS,
  ...INBOX_ERRORS,
};

export type ErrorCode = keyof typeof ERROR_CODES;
