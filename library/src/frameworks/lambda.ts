import type { Receiver, Reply } from "../inbox/receiver.js";
import { readLambdaBody, readLambdaEvent } from "./lambda-event.js";
import type { LambdaEvent, LambdaOrigin, LambdaRequest } from "./lambda-event.js";
import {
  allowsBody,
  checkDoor,
  refuseAs,
  refuseBody,
  refuseError,
  refusedMethod,
  sourceOf,
  unlessDoubtful,
} from "./request-rules.js";
import type { SourceChoice } from "./request-rules.js";

/** What a function answers, for whichever of the four asked. */
export interface LambdaResult {
  readonly statusCode: number;
  readonly statusDescription?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[]>>;
  readonly body: string;
  readonly isBase64Encoded: false;
}

/** A handler for AWS Lambda. */
export type LambdaHandler = (event: LambdaEvent) => Promise<LambdaResult>;

const DOOR = { name: "lambdaHandler", otherwise: "the path", byFunction: true } as const;

/**
 * Answers webhooks in AWS Lambda: API Gateway REST (v1) and HTTP (v2), Function URL, Application Load Balancer. Never
 * rejects. Without `source`, the path's parameter `source` or its last part names it.
 *
 * @example
 * export const handler = lambdaHandler(receiver, { source: "stripe" });
 */
export function lambdaHandler<Source extends string>(
  receiver: Receiver<Source>,
  options: { readonly source?: SourceChoice<LambdaEvent, NoInfer<Source>> } = {},
): LambdaHandler {
  checkDoor(DOOR, receiver, options);
  const choice = options.source ?? sourceInPath;
  return async (event) => {
    const request = readLambdaEvent(Object(event) as LambdaEvent);
    const origin = request?.origin ?? "api_gateway_v2";
    try {
      const reply = await answer(receiver, choice, event, request);
      // Once the reply is out, the process is frozen, and what waits for a timer may never be written.
      await receiver.flush();
      return toResult(reply, origin);
    } catch (error) {
      return toResult(refuseError(receiver, error), origin);
    }
  };
}

async function answer(
  receiver: Receiver,
  choice: SourceChoice<LambdaEvent>,
  event: LambdaEvent,
  request: LambdaRequest | undefined,
): Promise<Reply> {
  if (request === undefined) {
    const why =
      "the event has neither requestContext.http.method nor httpMethod and path: it is no HTTP event";
    return refuseAs(receiver, "unknown", { code: "event_shape_unknown", why });
  }
  const { method, headers, url } = request;
  const refused = refusedMethod(method);
  if (refused !== undefined) return refused;
  const source = sourceOf(choice, event);
  const reading = readLambdaBody(event);
  if (reading.kind === "not_base64") {
    const why =
      "isBase64Encoded is true, and the body is not base64: something before this handler decoded it";
    return refuseAs(receiver, source, { code: "body_not_base64", why });
  }
  if (reading.kind !== "bytes") return refuseBody(receiver, source, reading);
  const reply = await receiver.receive(source, { headers, body: reading.bytes, method, url });
  return unlessDoubtful(receiver, source, reading, reply);
}

function sourceInPath(event: LambdaEvent): string {
  const path = event.rawPath ?? event.path ?? "";
  return event.pathParameters?.["source"] ?? path.split("/").findLast((part) => part !== "") ?? "unknown";
}

function toResult({ status, headers = {}, body }: Reply, origin: LambdaOrigin): LambdaResult {
  const result = {
    statusCode: status,
    body: allowsBody(status) ? (body ?? "") : "",
    isBase64Encoded: false,
  } as const;
  switch (origin) {
    case "api_gateway_v1":
    case "api_gateway_v2":
      return { ...result, headers };
    case "load_balancer":
      return { ...result, statusDescription: String(status), headers };
    case "load_balancer_multi": {
      // A target group with multi-value headers ignores the single ones.
      const multiValueHeaders = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, [value]]),
      );
      return { ...result, statusDescription: String(status), multiValueHeaders };
    }
  }
}
