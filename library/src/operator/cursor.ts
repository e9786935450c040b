import { PosthornError } from "../posthorn-error.js";
import type { OperatorErrorCode } from "./operator-errors.js";

// A cursor says where the last item of a page stood, by the numbers that the list is sorted by: the item itself may be
// gone when the next page is asked for. Whatever is no cursor is refused: a list that began anew instead would show the
// first page for ever to whoever reads on until the end.

/** What a column of any database holds at most. */
const MOST = 2n ** 63n - 1n;

export function cursorOf(...numbers: readonly bigint[]): string {
  return numbers.join("_");
}

/** The number of a cursor that has one; undefined where the list begins. */
export function numberOfCursor(after: string | undefined): bigint | undefined {
  return numbersOfCursor(after, 1)?.[0];
}

/** The numbers of a cursor; undefined where the list begins. */
export function numbersOfCursor(after: string | undefined, count: number): readonly bigint[] | undefined {
  if (after === undefined) return undefined;
  const parts = /^\d{1,19}(?:_\d{1,19}){0,9}$/.test(after) ? after.split("_") : [];
  const numbers = parts.map(BigInt);
  if (numbers.length !== count || numbers.some((number) => number > MOST)) throw cursorInvalid(after);
  return numbers;
}

/** The endpoint after which a list goes on; it may have been removed since. */
export function endpointOfCursor(after: string | undefined): string | undefined {
  if (after !== undefined && !/^[\w-]{1,64}$/.test(after)) throw cursorInvalid(after);
  return after;
}

export function cursorInvalid(after: string): PosthornError<OperatorErrorCode> {
  return new PosthornError(
    "cursor_invalid",
    `\`after\` is ${JSON.stringify(after.slice(0, 80))}, where no page of this list ended. Hand back \`next\` of the page before, as it is, or leave it out to begin.`,
    { detail: { field: "after" } },
  );
}
