import { unknownOption } from "../known-options.js";
import { PosthornError } from "../posthorn-error.js";
import type { InboxErrorCode } from "./inbox-errors.js";

/** Throws where one of the options is misspelt. */
export function checkNames(of: string, given: unknown, known: Readonly<object>): void {
  const found = unknownOption(of, given, known);
  if (found !== undefined) throw new PosthornError<InboxErrorCode>("inbox_option_invalid", found);
}
