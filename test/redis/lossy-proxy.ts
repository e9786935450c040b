import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { Socket } from "node:net";

/** Stands between a client and Redis, and loses what it is told to lose. */
export interface LossyProxy {
  readonly url: string;
  /** Lets the next command that holds this text reach Redis and be answered, but cuts the connection instead of passing the answer on. */
  loseAnswerTo(text: string): void;
  /** How many answers were lost. */
  readonly lost: number;
  close(): Promise<void>;
}

export async function openLossyProxy(redisUrl: string): Promise<LossyProxy> {
  const { hostname, port } = new URL(redisUrl);
  const sockets = new Set<Socket>();
  let wanted: string | undefined;
  let lost = 0;

  const server = createServer((client) => {
    const redis = connect(Number(port), hostname);
    let losing = false;
    for (const [socket, other] of [
      [client, redis],
      [redis, client],
    ] as const) {
      sockets.add(socket);
      // A connection that is cut takes the other with it.
      socket.on("close", () => other.destroy());
      socket.on("error", () => other.destroy());
    }
    client.on("data", (chunk) => {
      if (wanted !== undefined && chunk.includes(wanted)) {
        wanted = undefined;
        losing = true;
      }
      redis.write(chunk);
    });
    redis.on("data", (chunk) => {
      if (!losing) return void client.write(chunk);
      lost++;
      client.destroy();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const own = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `redis://127.0.0.1:${own}`,
    loseAnswerTo: (text) => {
      wanted = text;
    },
    get lost() {
      return lost;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
