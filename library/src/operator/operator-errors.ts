/** What can go wrong when a person looks and intervenes. Printed into docs/errors.md. */
export const OPERATOR_ERRORS = {
  cursor_invalid: "A list was to go on where no page of it ended: the cursor is not one that this list gave.",
  operator_option_invalid:
    "A verb of an operator, or `reconcile`, was given something that it cannot work with; nothing was changed.",
  consumer_in_use:
    "A handler was to be removed that a worker has, or had within the last three minutes; nothing was changed. Stop its workers, or deploy the version without it first.",
  consumer_not_empty:
    "A handler was to be removed while deliveries wait for it, or dead letters of it are unresolved; nothing was changed. Run a worker with its handlers until nothing waits, and redrive its dead letters; or say `cancelWaiting: true`.",
  number_invalid:
    "A lane or a sequence was given that is no whole number, or a pause of a length that none can have.",
} as const;

export type OperatorErrorCode = keyof typeof OPERATOR_ERRORS;
