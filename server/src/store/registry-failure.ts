import { isPosthornError, PosthornError } from "posthorn";

/** An error of the database as the one kind that callers know: try again, or migrate first. */
export function registryFailure(error: unknown, missingTable: (error: unknown) => boolean): PosthornError {
  if (isPosthornError(error)) return error;
  const found = error instanceof Error ? error.message : String(error);
  if (missingTable(error)) {
    return new PosthornError(
      "store_not_migrated",
      `The database lacks the server's tables (${found}). Run \`posthorn migrate\`.`,
      { cause: error },
    );
  }
  return new PosthornError("store_unavailable", `The database did not answer as it should: ${found}`, {
    cause: error,
  });
}
