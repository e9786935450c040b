import type { Consumer } from "posthorn/client";
import type { ApiParts } from "./api-parts.js";
import { notFound } from "./problem.js";
import { showConsumer } from "./resources/inbox.js";

/** How a consumer stands, as the API shows it. */
export async function readConsumer(
  { outbox, clock }: Pick<ApiParts, "outbox" | "clock">,
  id: string,
): Promise<Consumer> {
  const found = (await outbox.consumers()).find((each) => each.id === id);
  if (found === undefined) throw notFound("consumer", id);
  return showConsumer(found, clock.now());
}
