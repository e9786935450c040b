import { createReceiver, createSender, generateSecret, standardWebhooks } from "posthorn";
import { createAddressGuard, createDispatcher } from "posthorn/dispatch";
import { memoryStore } from "posthorn/memory";
import { nodeListener } from "posthorn/node";
import type { OutboxUnderTest } from "posthorn/testing";
import { onTestFinished } from "vitest";
import { serve } from "./e2e/receiving-server.js";

const LOOPBACK = createAddressGuard({ allowHttp: true, allowAddresses: ["127.0.0.0/8"] });

/** What arrived at an endpoint, verified there. */
export interface Landed {
  readonly id: string;
  readonly type: string;
  readonly key: string | undefined;
  readonly body: string;
}

/** An endpoint for every event of an outbox, and a dispatcher that is run by hand. */
export async function openLanding(
  outbox: Omit<OutboxUnderTest<never>, "accept" | "apply">,
): Promise<{ readonly landed: Landed[]; readonly deliver: () => Promise<void> }> {
  const landed: Landed[] = [];
  const secret = generateSecret();
  const receiver = createReceiver({
    store: memoryStore({ environment: "test" }),
    sources: { sender: standardWebhooks({ secrets: secret }) },
    handlers: {
      "*": ({ id, type, stamp, body }) => {
        landed.push({ id, type, key: stamp?.lane?.key, body: Buffer.from(body).toString() });
      },
    },
  });
  const { port } = await serve(nodeListener(receiver, { source: "sender" }));
  const sender = createSender<never, "asynchronous">({
    store: outbox as OutboxUnderTest<never, "asynchronous">,
    guard: LOOPBACK,
  });
  const { id } = await sender.endpoints.create({ url: `http://127.0.0.1:${port}/`, secrets: secret });
  onTestFinished(() => sender.endpoints.remove(id).then(() => undefined));
  const dispatcher = createDispatcher({ store: outbox, guard: LOOPBACK });
  const deliver = async (): Promise<void> => void (await dispatcher.drain());
  return { landed, deliver };
}
