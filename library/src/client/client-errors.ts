/** What can come of a call of the API. Printed into docs/errors.md. */
export const CLIENT_ERRORS = {
  api_option_invalid: "An option of the client has a value that cannot work.",
  api_unreachable: "The server gave no answer: it could not be reached, or the time for it ran out.",
  api_unauthorised: "The server wants a token, or does not know this one, or the token may only read.",
  api_not_found: "What was asked for does not exist on the server.",
  api_conflict: "What was sent contradicts what the server has; nothing was changed.",
  api_refused: "The server refused the request; its words say which part of it is wrong.",
  api_unavailable: "The server cannot do it at the moment: its database is away, or too much is asked of it.",
  api_failed: "The server failed; its log has more under the request id.",
  api_answer_invalid: "The answer is none of Posthorn's: another program or a proxy gave it.",
} as const;

/** The codes of what goes wrong between the client and the server; what the server refuses has the server's code. */
export type ClientErrorCode = keyof typeof CLIENT_ERRORS;
