import { CLIENT_ERRORS } from "./client/client-errors.js";
import { DELIVERY_ERRORS } from "./delivery/delivery-errors.js";
import { FRAMEWORK_ERRORS } from "./frameworks/framework-errors.js";
import { INBOX_ERRORS } from "./inbox/inbox-errors.js";
import { OPERATOR_ERRORS } from "./operator/operator-errors.js";
import { OUTBOX_ERRORS } from "./outbox/outbox-errors.js";
import { REPAIR_ERRORS } from "./repair/repair-errors.js";
import { RETENTION_ERRORS } from "./retention/retention-errors.js";
import { SIGNATURE_ERRORS } from "./signature/signature-errors.js";
import { STORE_ERRORS } from "./store-errors.js";
import { WORK_ERRORS } from "./work/work-errors.js";

/**
 * Every code that a PosthornError can carry, with its meaning. Only the main door joins the tables:
 * a bundle of `posthorn/verify` carries none of them.
 */
export const ERROR_CODES: typeof SIGNATURE_ERRORS &
  typeof INBOX_ERRORS &
  typeof FRAMEWORK_ERRORS &
  typeof OUTBOX_ERRORS &
  typeof STORE_ERRORS &
  typeof DELIVERY_ERRORS &
  typeof WORK_ERRORS &
  typeof REPAIR_ERRORS &
  typeof RETENTION_ERRORS &
  typeof OPERATOR_ERRORS &
  typeof CLIENT_ERRORS = {
  ...SIGNATURE_ERRORS,
  ...INBOX_ERRORS,
  ...FRAMEWORK_ERRORS,
  ...OUTBOX_ERRORS,
  ...STORE_ERRORS,
  ...DELIVERY_ERRORS,
  ...WORK_ERRORS,
  ...REPAIR_ERRORS,
  ...RETENTION_ERRORS,
  ...OPERATOR_ERRORS,
  ...CLIENT_ERRORS,
};

/** The code of any error that Posthorn throws. */
export type ErrorCode = keyof typeof ERROR_CODES;
