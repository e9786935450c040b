import { PosthornError } from "posthorn";

/** The error for a source that cannot work. `detail.field` names the field to change. */
export function sourceInvalid(
  field: string,
  found: string,
  cause?: unknown,
): PosthornError<"source_invalid"> {
  return new PosthornError("source_invalid", `${field}: ${found}${found.endsWith("?") ? "" : "."}`, {
    detail: { field },
    ...(cause === undefined ? {} : { cause }),
  });
}
