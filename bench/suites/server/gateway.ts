import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SuiteContext } from "../../suite.js";
import { SOURCE } from "../inbox/signed-events.js";
import { createKeys } from "../signed-requests.js";
import { startMeasured } from "./measured-process.js";
import type { MeasuredProcess } from "./measured-process.js";

const MAIN = fileURLToPath(new URL("../../../server/dist/main.js", import.meta.url));
export const SECRET: string = createKeys().secret;
const TOKEN = `phk_${"b".repeat(43)}`;
const MASTER_KEY = Buffer.alloc(32, "bench").toString("base64");
// More than any case has under way: the endpoint must not be what limits.
const MAX_IN_FLIGHT = 1000;

/** Where a gateway keeps its events, and the endpoint that they go to. */
export interface GatewayHome {
  /** Empty for SQLite, which is then in the data directory. */
  readonly database: string;
  /** Of Postgres. */
  readonly schema: string;
  readonly dataDir: string;
  readonly endpoint: string;
}

/** The verdicts of ingest since the gateway started, by name. */
export type Verdicts = Readonly<Record<string, number>>;

/** `posthorn serve`, as it is built and started by its users. */
export interface Gateway extends MeasuredProcess {
  readonly home: GatewayHome;
  verdicts(): Promise<Verdicts>;
}

export function newDataDir(context: Pick<SuiteContext, "onClose">): string {
  const folder = mkdtempSync(join(tmpdir(), "posthorn-bench-"));
  context.onClose(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "data");
}

/** Makes the source and an endpoint that gets all of its events, as an operator does, by the API. */
export async function furnish(context: Pick<SuiteContext, "onClose">, home: GatewayHome): Promise<void> {
  // A node that does nothing but answer the API creates no tables.
  const server = await serve(context, home, ["ingest", "api"]);
  try {
    await post(server, "sources", { name: SOURCE, scheme: "standard_webhooks", secrets: [SECRET] });
    await post(server, "endpoints", { url: home.endpoint, maxInFlight: MAX_IN_FLIGHT });
  } finally {
    await server.stop();
  }
}

export async function startGateway(
  context: Pick<SuiteContext, "onClose">,
  home: GatewayHome,
  roles: readonly string[],
): Promise<Gateway> {
  const server = await serve(context, home, roles);
  return { ...server, home, verdicts: () => readVerdicts(server.url) };
}

function serve(
  context: Pick<SuiteContext, "onClose">,
  { database, schema, dataDir }: GatewayHome,
  roles: readonly string[],
): Promise<MeasuredProcess> {
  const flags = ["--listen", "127.0.0.1:0", "--data-dir", dataDir, "--roles", roles.join(","), "--dev"];
  const env = {
    POSTHORN_FIRST_TOKEN: TOKEN,
    ...(database !== "" && {
      POSTHORN_DATABASE: database,
      POSTHORN_SCHEMA: schema,
      POSTHORN_MASTER_KEY: MASTER_KEY,
    }),
  };
  return startMeasured(context, { line: [MAIN, "serve", ...flags], ready: "Try it:", env });
}

async function post({ url }: MeasuredProcess, route: string, body: object): Promise<void> {
  const reply = await fetch(`${url}/api/v1/${route}`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!reply.ok) throw new Error(`${route} answered ${reply.status}: ${await reply.text()}`);
}

async function readVerdicts(url: string): Promise<Verdicts> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const found = text.matchAll(/^posthorn_ingest_total\{.*verdict="(\w+)".*\} (\d+)$/gm);
  return Object.fromEntries(Array.from(found, ([, verdict = "", count]) => [verdict, Number(count)]));
}
