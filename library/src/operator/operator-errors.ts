/** What can go wrong when a person looks and intervenes. Printed into docs/errors.md. */
export const OPERATOR_ERRORS = {
  cursor_invalid: "A list was to go on where no page of it ended: the cursor is not one that this list gave.",
  number_invalid: "A lane or a sequence was given that is no whole number.",
} as const;

export type OperatorErrorCode = keyof typeof OPERATOR_ERRORS;
