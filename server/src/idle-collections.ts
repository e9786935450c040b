import { setFlagsFromString } from "node:v8";

// Ten days. With 24, which is as much as V8 can count, it did not wait at all.
const NOT_BEFORE_MS = 10 * 24 * 3_600_000;

/**
 * Keeps V8 from giving memory back. It would collect everything up to three times whenever traffic calms, or 100 s after the
 * last full collection however much there is to do, and with it the shapes of objects that nobody has just then. Code that
 * was compiled for them is thrown away; when they come again, half a second of compiling stands between the server and its
 * callers, in pieces of up to 5 ms.
 *
 * The time is read once: when the heap has grown by its first megabyte, a tenth of a second after the start. Then V8 waits
 * for as long, and does not look at it again in between. So this has to be called before the program is loaded.
 */
export function postponeIdleCollections(): void {
  setFlagsFromString(`--gc-memory-reducer-start-delay-ms=${NOT_BEFORE_MS}`);
}
