/** What can go wrong between a verified request and its recorded outcome. Printed into docs/errors.md. */
export const INBOX_ERRORS = {
  dedup_busy:
    "Whether the id is a duplicate could not be known in time, because another transaction holds it. Retry.",
  claim_lost: "A two-phase claim ran out before it was confirmed; another caller may have done the work too.",
  handler_deadline: "The handler did not finish within its deadline; its transaction was rolled back.",
  handler_cut_off:
    "A long handler was cut off: its lease was lost, or its worker stops. Nothing of it is marked, and it will run again.",
  handler_again_exhausted:
    "A handler has thrown `again` a thousand times for one event; from then on each counts as a failure.",
  handler_returned_promise:
    "A handler on SQLite awaited inside its transaction; its inner function must be synchronous.",
  handler_returned_function:
    "A handler on Postgres or in memory returned a function, as those on SQLite do: nothing would call it.",
  handler_misplaced:
    "A handler has used what its form does not have: `tx` outside of the transaction on SQLite, or `once` outside of a long handler.",
  step_result_invalid:
    "What a step of a long handler came to cannot be kept, because it is not small plain JSON; the step was done.",
  newest_invalid: "`newest` was given a resource or a version that it cannot compare.",
  schema_invalid: "The event's data does not fit the schema that was given for its type.",
  window_too_short: "Events would be forgotten while their provider may still redeliver them.",
  body_too_large: "The body is larger than the source's `maxBodyBytes`.",
  body_compressed: "The body is compressed, and signatures cover the bytes as they were before.",
  log_entry_misnamed:
    "A delivery of a provider's log is not the event that its entry names: applied, it would not be known as the webhook's.",
  source_unknown: "No source of this name was configured.",
  inbox_option_invalid:
    "An option of the receiver, of a worker or of `dedup` is unknown, as after a typo, or has a value that cannot work.",
} as const;

/** The codes of what goes wrong while receiving. */
export type InboxErrorCode = keyof typeof INBOX_ERRORS;
