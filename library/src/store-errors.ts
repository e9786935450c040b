/** What can go wrong in any store, whichever way an event goes. Printed into docs/errors.md. */
export const STORE_ERRORS = {
  store_not_migrated:
    "A table that Posthorn needs is not in the database; the message has the command that creates it.",
  store_client_unsupported: "The client is of no kind that the store knows, or of another database.",
  store_transaction_required:
    "A transaction was expected, and something else was handed in: a pool, or a client outside a transaction.",
  store_transaction_finished: "The transaction that was handed in has already been committed or rolled back.",
  store_transaction_aborted:
    "A statement inside the transaction failed and its error was swallowed: the database had rolled everything back.",
  store_transaction_owned:
    "A handler tried to begin, commit, roll back or release the transaction that it was given, which its store begins and ends.",
  store_commit_unknown:
    "The connection was lost while committing: the writes may be there or not. An event's next delivery finds the truth.",
  store_unavailable: "The database could not be reached or refused to work; the cause says why.",
  store_option_invalid: "An option of a store has a value that cannot work.",
} as const;

/** The codes of what goes wrong in a store. */
export type StoreErrorCode = keyof typeof STORE_ERRORS;
