import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { TOWN } from "./character.js";
import type { Character } from "./character.js";

/** An endpoint of the town and what it has seen. */
export interface House {
  readonly character: Character;
  readonly url: string;
  report(): HouseReport;
}

export interface HouseReport {
  readonly requests: number;
  readonly failed: number;
  readonly taken: number;
  readonly repeated: number;
  readonly outOfOrder: number;
}

export interface Town {
  readonly houses: readonly House[];
  stop(): Promise<void>;
}

/** Opens the town on loopback: one listener, one path for each house. */
export async function openTown(random: () => number): Promise<Town> {
  const houses = new Map(TOWN.map((character) => [`/${character.name}`, new TownHouse(character, random)]));
  const server = createServer((request, response) => {
    const house = houses.get(request.url ?? "");
    if (house === undefined) response.writeHead(404).end();
    else void house.receive(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    houses: [...houses].map(([path, house]) => ({
      character: house.character,
      url: `http://127.0.0.1:${port}${path}`,
      report: () => house.report(),
    })),
    stop: () => stopServer(server, houses.values()),
  };
}

function stopServer(server: Server, houses: Iterable<TownHouse>): Promise<void> {
  for (const house of houses) house.stop();
  return new Promise((resolve) => {
    server.close(() => resolve());
    // Unanswered requests would keep the process alive.
    server.closeAllConnections();
  });
}

class TownHouse {
  readonly character: Character;
  readonly #random: () => number;
  readonly #ledger = new OrderLedger();
  readonly #timers = new Set<NodeJS.Timeout>();
  #requests = 0;
  #failed = 0;

  constructor(character: Character, random: () => number) {
    this.character = character;
    this.#random = random;
  }

  async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const event = await readEvent(request).catch(() => undefined);
    if (event === undefined) {
      response.writeHead(400).end();
      return;
    }
    const before = this.#requests++;
    const behaviour = this.character.behave({ customer: event.customer, before, chance: this.#random() });
    const taken = behaviour !== "silence" && behaviour.status < 300;
    if (taken) this.#ledger.take(event.customer, event.number);
    else this.#failed++;
    if (behaviour === "silence") return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      response.writeHead(behaviour.status).end(taken ? "thank you" : "sorry");
    }, behaviour.afterMs);
    this.#timers.add(timer);
  }

  report(): HouseReport {
    return { requests: this.#requests, failed: this.#failed, ...this.#ledger.report() };
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }
}

async function readEvent(
  request: IncomingMessage,
): Promise<{ readonly customer: number; readonly number: number } | undefined> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  const { data } = JSON.parse(Buffer.concat(chunks).toString("utf8")) as { readonly data?: unknown };
  const { customer, number } = Object(data) as { readonly customer?: unknown; readonly number?: unknown };
  return typeof customer === "number" && typeof number === "number" ? { customer, number } : undefined;
}

/** Counts what one endpoint of the town accepted, and what came out of order. */
export class OrderLedger {
  readonly #last = new Map<number, number>();
  #taken = 0;
  #repeated = 0;
  #outOfOrder = 0;

  /** Counts event `number` of a customer. */
  take(customer: number, number: number): void {
    const last = this.#last.get(customer) ?? 0;
    // At least once: a repeated event is fine; an earlier one after a later one is not.
    if (number === last) this.#repeated++;
    else if (number < last) this.#outOfOrder++;
    else {
      this.#taken++;
      this.#last.set(customer, number);
    }
  }

  report(): { readonly taken: number; readonly repeated: number; readonly outOfOrder: number } {
    return { taken: this.#taken, repeated: this.#repeated, outOfOrder: this.#outOfOrder };
  }
}
