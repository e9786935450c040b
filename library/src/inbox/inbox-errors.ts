/** What can go wrong between a verified request and its recorded outcome. Printed into docs/errors.md. */
export const INBOX_ERRORS = {
  not_migrated:
    "A table that Posthorn needs is not in the database; the message has the command that creates it.",
  client_unsupported: "The client is of no kind that the store knows, or of another database.",
  transaction_required:
    "A transaction was expected, and something else was handed in: a pool, or a client outside a transaction.",
  transaction_finished: "The transaction that was handed in has already been committed or rolled back.",
  transaction_aborted:
    "A statement of the handler failed and its error was swallowed: the database had rolled everything back.",
  commit_unknown:
    "The connection was lost while committing; whether the event was applied is known at its next delivery.",
  dedup_busy:
    "Whether the id is a duplicate could not be known in time, because another transaction holds it. Retry.",
  claim_lost: "A two-phase claim ran out before it was confirmed; another caller may have done the work too.",
  handler_deadline: "The handler did not finish within its deadline; its transaction was rolled back.",
  handler_returned_promise:
    "A handler on SQLite awaited inside its transaction; its inner function must be synchronous.",
  schema_invalid: "The event's data does not fit the schema that was given for its type.",
  window_too_short: "Events would be forgotten while their provider may still redeliver them.",
  source_unknown: "No source of this name was configured.",
  store_unavailable: "The database could not be reached or refused to work; the cause says why.",
  inbox_option_invalid: "An option of the inbox or its store has a value that cannot work.",
} as const;

export type InboxErrorCode = keyof typeof INBOX_ERRORS;
