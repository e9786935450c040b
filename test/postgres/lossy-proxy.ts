import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { connect, createServer } from "node:net";
import { afterAll } from "vitest";

/** A way to the database on which answers can get lost. */
export interface LossyProxy {
  readonly url: string;
  /** The next request that holds `text` reaches the server; its answer does not come back, the connection breaks. */
  loseAnswerTo(text: string): void;
  /** The next request that holds `text` does not reach the server; the connection breaks. */
  loseRequest(text: string): void;
  /** How many answers and requests were lost. */
  lost(): number;
}

type Loss = { readonly text: string; readonly what: "answer" | "request" };

/** Starts a proxy in front of the database of `url`; it ends with the test file. */
export async function createLossyProxy(url: string): Promise<LossyProxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let loss: Loss | undefined;
  let lost = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port || 5432), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    }
    let losing: Loss | undefined;
    const cut = (): void => {
      lost++;
      losing = undefined;
      client.resetAndDestroy();
      upstream.end();
    };
    client.on("data", (request) => {
      if (loss && request.includes(loss.text)) {
        losing = loss;
        loss = undefined;
      }
      if (losing?.what === "request") cut();
      else upstream.write(request);
    });
    upstream.on("data", (answer) => (losing ? cut() : client.write(answer)));
    client.on("close", () => upstream.end());
    upstream.on("close", () => client.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const front = new URL(url);
  front.hostname = "127.0.0.1";
  front.port = String((server.address() as AddressInfo).port);
  return {
    url: front.href,
    loseAnswerTo: (text) => (loss = { text, what: "answer" }),
    loseRequest: (text) => (loss = { text, what: "request" }),
    lost: () => lost,
  };
}
