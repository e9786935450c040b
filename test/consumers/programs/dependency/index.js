// A package that brought its own copy of Posthorn, as happens when two of them ask for different versions.
import { isPosthornError, PosthornError, standardWebhooks } from "posthorn/verify";

export { isPosthornError, PosthornError };

/** Throws an error of the dependency's copy. */
export function fail() {
  standardWebhooks({ secrets: "" });
}
