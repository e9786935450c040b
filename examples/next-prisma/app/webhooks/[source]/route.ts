import { fetchHandler } from "posthorn/fetch";

export const maxDuration = 60; // seconds: longer than `handlerDeadlineMs`

export async function POST(request: Request): Promise<Response> {
  // Imported by the first request: `next build` loads this file too, where no secret is set.
  const { receiver } = await import("../../../receiver");
  const source = new URL(request.url).pathname.split("/").at(-1) ?? "";
  return fetchHandler(receiver, { source: () => source })(request);
}
