import { once } from "node:events";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** One request that came. */
export interface Receipt {
  readonly id: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly status: number;
}

/** A receiver on loopback that remembers what came, and answers as it is told. */
export class EndpointDouble {
  /** What is answered from now on; undefined: nothing, for ever. */
  status: number | undefined = 200;
  readonly receipts: Receipt[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(): Promise<EndpointDouble> {
    const double: EndpointDouble = new EndpointDouble(
      createServer((request, response) => {
        const chunks: Buffer[] = [];
        request.on("data", (chunk: Buffer) => chunks.push(chunk));
        request.on("end", () => {
          const { status } = double;
          const { headers } = request;
          const id = String(headers["webhook-id"]);
          double.receipts.push({ id, body: Buffer.concat(chunks).toString(), headers, status: status ?? 0 });
          if (status !== undefined) response.writeHead(status).end();
        });
      }),
    );
    double.#server.listen(0, "127.0.0.1");
    await once(double.#server, "listening");
    onTestFinished(() => double.close());
    return double;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** The ids that were taken, in their order. */
  get taken(): readonly string[] {
    return this.receipts.filter(({ status }) => status === 200).map(({ id }) => id);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
