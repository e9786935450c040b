import { PosthornError } from "posthorn";

/** A source that cannot be as it was asked for. `detail.field` names the part that has to change. */
export function sourceInvalid(
  field: string,
  found: string,
  cause?: unknown,
): PosthornError<"source_invalid"> {
  return new PosthornError("source_invalid", `${field}: ${found}.`, {
    detail: { field },
    ...(cause === undefined ? {} : { cause }),
  });
}
