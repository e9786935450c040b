/** What can go wrong between a publication and its place in the outbox. Printed into docs/errors.md. */
export const OUTBOX_ERRORS = {
  publication_invalid:
    "An event that was to be published has a field that cannot be sent; nothing was written.",
  id_conflict: "The id was published before with another type or body; nothing was written.",
  endpoint_invalid: "An endpoint has a field that delivery could not work with; nothing was changed.",
  endpoint_busy:
    "The order of an endpoint cannot be changed while deliveries wait for it; nothing was changed.",
  endpoint_unknown: "There is no endpoint of this id.",
  outbox_option_invalid: "An option of the sender has a value that cannot work.",
} as const;

export type OutboxErrorCode = keyof typeof OUTBOX_ERRORS;
