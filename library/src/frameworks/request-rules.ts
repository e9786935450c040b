import type { Reply } from "../inbox/receiver.js";

/** The name of the source, or how to read it from a request (its path, say). */
export type SourceChoice<Request> = string | ((request: Request) => string);

/** The reply to a method that no webhook uses; undefined for POST. */
export function refusedMethod(method: string | undefined): Reply | undefined {
  return method === "POST" ? undefined : { status: 405, headers: { allow: "POST" } };
}

/** The source that a request is for. */
export function sourceOf<Request>(choice: SourceChoice<Request>, request: Request): string {
  return typeof choice === "string" ? choice : choice(request);
}
