import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import { PgDriver } from "./pg-driver.js";

type Callback = (error: Error | undefined, client: unknown) => void;

/** A connection of pg that answers every statement with an error, as a socket does that has been closed. */
class DeadClient extends EventEmitter {
  released: unknown;

  query(): Promise<never> {
    return Promise.reject(new Error("Client has encountered a connection error and is not queryable"));
  }

  release(destroy: unknown): void {
    this.released = destroy;
  }
}

describe("a pool of pg whose new session is ended in the packet that began it", () => {
  it("tells the error to a listener: without one, it would end the process", async () => {
    const client = new DeadClient();
    const farewell = new Error("terminating connection due to administrator command");
    const handOver = (callback: Callback): void => {
      callback(undefined, client);
      // The pool has taken its listener off, and pg emits before any promise is heard.
      client.emit("error", farewell);
    };
    const pool = { connect: handOver, totalCount: 1, idleCount: 0 };
    const driver = new PgDriver(pool as never, true);
    await expect(driver.query({ text: "select 1" }, 100)).rejects.toThrow("not queryable");
    expect(client.released).toBe(true);
    expect(client.listenerCount("error")).toBe(0);
  });
});
