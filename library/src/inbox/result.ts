import type { HandlerLogger } from "./handlers.js";

const MAX_RESULT_LENGTH = 65_536;

/**
 * A handler's result as JSON text. A result that cannot be kept is told and left out: the work is done,
 * and undoing it for the sake of a note would turn success into failure.
 */
export function encodeResult(result: unknown, logger: HandlerLogger): string | undefined {
  if (result === undefined) return undefined;
  let text: string | undefined;
  try {
    text = JSON.stringify(result);
  } catch (error) {
    logger.warn(
      `The handler's result is not kept: ${error instanceof Error ? error.message : "it is not JSON"}.`,
    );
    return undefined;
  }
  if (text === undefined || text.length <= MAX_RESULT_LENGTH) return text;
  logger.warn(
    `The handler's result is not kept: ${text.length} characters of JSON, at most ${MAX_RESULT_LENGTH} fit.`,
  );
  return undefined;
}
