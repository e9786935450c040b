import type { Receiver, Reply } from "../inbox/receiver.js";

/** The name of the source, or how to read it from a request (its path, say). */
export type SourceChoice<Request, Source extends string = string> = Source | ((request: Request) => string);

/** What an adapter could make of a request's body. */
export type BodyReading =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  /** Not read to its end. */
  | { readonly kind: "too_large" }
  /** Somebody read it before, and the bytes are gone. */
  | { readonly kind: "consumed"; readonly cure: string }
  /** The connection broke while it came in. */
  | { readonly kind: "broken" };

/** The reply to a body that the receiver never gets to see, told to the observer. */
export function refuseBody(
  receiver: Receiver,
  source: string,
  reading: Exclude<BodyReading, { kind: "bytes" }>,
): Reply {
  switch (reading.kind) {
    case "too_large":
      return receiver.refuse(
        source,
        413,
        `the body has more than ${receiver.maxBodyBytes(source)} bytes, the source's maxBodyBytes`,
      );
    case "consumed":
      // Ours to mend, so the sender must come again.
      return receiver.refuse(
        source,
        500,
        `the body was read before it came here, and signatures cover its exact bytes: ${reading.cure}`,
      );
    case "broken":
      return receiver.refuse(source, 400, "the connection broke before the body was complete");
  }
}

/** The reply to a method that no webhook uses; undefined for POST. Not told to the observer: health checks come by GET. */
export function refusedMethod(method: string | undefined): Reply | undefined {
  return method === "POST" ? undefined : { status: 405, headers: { allow: "POST" } };
}

/** The reply to a mistake of ours or of the host's, such as a source that cannot be read from the request. */
export function refuseError(receiver: Receiver, error: unknown): Reply {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : `thrown: ${String(error)}`;
  return receiver.refuse("unknown", 500, message);
}

/** The source that a request is for. */
export function sourceOf<Request>(choice: SourceChoice<Request>, request: Request): string {
  return typeof choice === "string" ? choice : choice(request);
}

/** The URL that was asked for, with an origin. Proxies may send the whole of it; else the name by which we were called counts. */
export function absoluteUrl(asked: string, protocol: "http" | "https", host: string | undefined): string {
  return /^https?:\/\//i.test(asked) ? asked : `${protocol}://${host ?? "localhost"}${asked}`;
}

/** Whether a reply of this status may have a body; a `Response` with one would throw, and a client would misread it. */
export function allowsBody(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304;
}
