/** What a status says about the next attempt. */
export type StatusMeaning =
  | "acknowledged"
  /** Try again by the retry policy, or when Retry-After says. */
  | "retry"
  /** The same bytes will be refused again: no attempt can change that. */
  | "refused"
  /** The receiver asks never to be called again. */
  | "gone";

/**
 * The statuses that mean something else than "try again". Most refusals heal: a deploy that answers 404, a secret that is
 * rotated late (401, 403), a validation that is mended (400, 422). A delivery that dies early stops its lane until
 * somebody looks, so only what cannot heal by waiting is final.
 */
const TABLE: ReadonlyMap<number, StatusMeaning> = new Map([
  [410, "gone"],
  // Too large for them: body, URL, headers. None of it gets smaller.
  [413, "refused"],
  [414, "refused"],
  [431, "refused"],
]);

export function meaningOf(status: number): StatusMeaning {
  if (status >= 200 && status <= 299) return "acknowledged";
  return TABLE.get(status) ?? "retry";
}
