/** What can go wrong while a provider's log is read. Printed into docs/errors.md. */
export const REPAIR_ERRORS = {
  repair_option_invalid: "An option of the repair or of a delivery log has a value that cannot work.",
  repair_log_unreadable:
    "The provider's API did not answer as documented: the message says what came instead. The next run tries it again.",
} as const;

export type RepairErrorCode = keyof typeof REPAIR_ERRORS;
