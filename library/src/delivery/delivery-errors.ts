/** What can go wrong around outgoing requests, apart from their outcomes. Printed into docs/errors.md. */
export const DELIVERY_ERRORS = {
  address_forbidden:
    "An endpoint's address is one to which nothing may be sent; the message names the setting that would allow it.",
  undici_missing:
    "The package undici, which sends the requests, is not installed; the message has the install line.",
  egress_option_invalid: "An option of the egress or of its address guard has a value that cannot work.",
  egress_request_invalid:
    "A request cannot be written as HTTP: one of its headers or its deadline is not one.",
  dispatcher_option_invalid: "An option of the dispatcher has a value that cannot work.",
  egress_closed: "A request was handed to an egress that had been closed.",
} as const;

export type DeliveryErrorCode = keyof typeof DELIVERY_ERRORS;
