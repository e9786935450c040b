import { fileURLToPath } from "node:url";
import type { SuiteContext } from "../../suite.js";
import { orderedIds } from "../inbox/event-ids.js";
import { SOURCE } from "../inbox/signed-events.js";
import { SECRET } from "./gateway.js";
import { startMeasured } from "./measured-process.js";
import type { MeasuredProcess } from "./measured-process.js";
import { RequestFiles } from "./request-file.js";

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Verifies and answers, and keeps nothing. */
export function startBareRoute(context: SuiteContext): Promise<MeasuredProcess> {
  return startMeasured(context, { line: [fileOf("bare-route.mjs"), SECRET], ready: "ready at" });
}

/** Answers, and does nothing else. */
export function startEmptyResponder(context: SuiteContext): Promise<MeasuredProcess> {
  const { requestBytes } = new RequestFiles(context, `/in/${SOURCE}`).sign(1, orderedIds());
  const line = [fileOf("empty-responder.mjs"), String(requestBytes)] as const;
  return startMeasured(context, { line, ready: "ready at" });
}
