/** What can go wrong in the loop that workers share, and in its settings. */
export const WORK_ERRORS = {
  retry_policy_invalid: "A retry policy holds a value that no schedule can be made of.",
} as const;

export type WorkErrorCode = keyof typeof WORK_ERRORS;
