/** What can go wrong in the settings of retention. Printed into docs/errors.md. */
export const RETENTION_ERRORS = {
  retention_invalid: "A window or the rate of retention has a value that cannot work.",
} as const;

export type RetentionErrorCode = keyof typeof RETENTION_ERRORS;
