import { request as httpRequest } from "node:http";
import type { IncomingHttpHeaders, Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as it goes over the wire. */
export interface Knock {
  readonly url: string;
  /** @default "POST" */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly payload?: string | Uint8Array;
}

export interface Knocked {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/**
 * Asks a server over a connection of its own, and has it listen first if it does not. For what stands before the
 * framework's router, which the framework's own `inject` passes by.
 */
export async function knock(
  server: Server,
  { url, method = "POST", headers = {}, payload = "" }: Knock,
): Promise<Knocked> {
  const port = await portOf(server);
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      { host: "127.0.0.1", port, path: url, method, headers, agent: false },
      (answer) => {
        let body = "";
        answer.setEncoding("utf8").on("data", (text: string) => (body += text));
        answer.on("end", () => resolve({ status: answer.statusCode, headers: answer.headers, body }));
      },
    );
    sent.on("error", reject);
    sent.end(payload);
  });
}

export async function portOf(server: Server): Promise<number> {
  if (!server.listening) {
    server.listen(0, "127.0.0.1");
    await new Promise((resolve, reject) => server.once("listening", resolve).once("error", reject));
  }
  return (server.address() as AddressInfo).port;
}
