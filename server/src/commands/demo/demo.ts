import type { Command } from "commander";
import { isPosthornError } from "posthorn/client";
import type { Client, Endpoint } from "posthorn/client";
import { CommandFailure, toldFailure } from "../../terminal/failure.js";
import { count } from "../../terminal/for-people.js";
import type { CommandContext } from "../command-context.js";
import { defineCommand, wholeNumber } from "../define-command.js";
import type { Run } from "../define-command.js";
import { drawBoard, Screen } from "./board.js";
import type { Moment } from "./board.js";
import { startOwnServer } from "./own-server.js";
import type { OwnServer } from "./own-server.js";
import { openTown } from "./town.js";
import type { House, Town } from "./town.js";
import { Traffic } from "./traffic.js";
import type { ServerAddress } from "../server-address.js";

interface DemoOptions {
  readonly url?: string;
  readonly rate: number;
  readonly customers: number;
  readonly for?: number;
  readonly own?: boolean;
}

const TENANT = "demo";
/** Short, so that a delivery is seen to be given up. */
const RETRY = { firstMs: 400, factor: 2, capMs: 3000, maxAttempts: 5 } as const;

export function registerDemo(program: Command, context: CommandContext): void {
  defineCommand<DemoOptions>(program, context, {
    form: "demo",
    says: "Show a small town of flaky endpoints with live, ordered traffic; Ctrl-C ends it and cleans up.",
    examples: ["posthorn demo", "posthorn demo --rate 100 --for 60"],
    flags: [
      { form: "--rate <n>", says: "Events in a second.", parse: wholeNumber(1, 2000), initial: 20 },
      { form: "--customers <n>", says: "Keys.", parse: wholeNumber(1, 10_000), initial: 24 },
      { form: "--for <seconds>", says: "End by itself after so long.", parse: wholeNumber(1, 86_400) },
      { form: "--own", says: "Start a server of its own, even where one runs." },
    ],
    run: demo,
  });
}

async function demo(run: Run<DemoOptions>): Promise<void> {
  // Before anything is started: a Ctrl-C that comes early must not leave a server behind.
  run.context.interrupted();
  const own = await ownServerIfNeeded(run);
  try {
    const address = own?.address ?? run.address();
    await showTown(run, address);
  } finally {
    await own?.stop();
  }
}

/** A server of its own where none is named and none runs here. */
async function ownServerIfNeeded({
  options,
  context,
  client,
  print,
}: Run<DemoOptions>): Promise<OwnServer | undefined> {
  if (options.own !== true) {
    try {
      await client().endpoints.list({ limit: 1 });
      return undefined;
    } catch (error) {
      const { exit, code } = toldFailure(error);
      const isAway = exit === "unreachable" || code === "token_missing";
      if (!isAway || options.url !== undefined) throw error;
    }
  }
  print.hint("No server runs here: starting one in a temporary directory.");
  return startOwnServer(context);
}

async function showTown(run: Run<DemoOptions>, address: ServerAddress): Promise<void> {
  const { context } = run;
  const client = context.connect(address);
  const town = await openTown(Math.random);
  const places: Place[] = [];
  try {
    for (const house of town.houses) places.push({ house, endpoint: await settle(client, house) });
    await live(run, { client, address, places });
  } finally {
    await leave(client, town, places);
  }
}

interface Place {
  readonly house: House;
  readonly endpoint: Endpoint;
}

async function settle(client: Client, house: House): Promise<Endpoint> {
  try {
    const id = `ep_${house.character.name}_${crypto.randomUUID().slice(0, 4)}`;
    return await client.endpoints.create({ id, url: house.url, tenant: TENANT, retry: RETRY });
  } catch (error) {
    if (!isPosthornError(error) || error.code !== "api_refused") throw error;
    throw new CommandFailure(
      "failed",
      `The server does not take endpoints on this machine: ${error.message}`,
      {
        cure: "Start it with `posthorn serve --dev`, or let the demo start its own: posthorn demo --own",
        cause: error,
      },
    );
  }
}

async function leave(client: Client, town: Town, places: readonly Place[]): Promise<void> {
  // The server may be gone already; the town is closed in any case.
  await Promise.allSettled(places.map(({ endpoint }) => client.endpoints.remove(endpoint.id)));
  await town.stop();
}

interface Live {
  readonly client: Client;
  readonly address: ServerAddress;
  readonly places: readonly Place[];
}

async function live(run: Run<DemoOptions>, { client, address, places }: Live): Promise<void> {
  const { options, context, print } = run;
  const { clock } = context;
  const ended = options.for === undefined ? [] : [AbortSignal.timeout(options.for * 1000)];
  const signal = AbortSignal.any([context.interrupted(), ...ended]);
  const { rate, customers } = options;
  const traffic = new Traffic({
    client,
    tenant: TENANT,
    rate,
    customers,
    clock,
    signal,
    random: Math.random,
  });
  const startedAt = clock.monotonic();
  const look = async (): Promise<Moment> => ({
    published: traffic.published,
    passedMs: clock.monotonic() - startedAt,
    url: address.url,
    ...(await lookAt(client, places)),
  });
  const failed = new AbortController();
  const sending = traffic.run().catch((error: unknown) => {
    failed.abort();
    throw error;
  });
  try {
    await Promise.all([sending, watch(run, look, AbortSignal.any([signal, failed.signal]))]);
    const moment = await look();
    print.show(reportOf(moment), () => tell(run, moment));
  } finally {
    failed.abort();
  }
}

async function lookAt(client: Client, places: readonly Place[]): Promise<Pick<Moment, "houses" | "lanes">> {
  const [lanes, ...endpoints] = await Promise.all([
    client.lanes.list({ limit: 500 }),
    ...places.map(({ endpoint }) => client.endpoints.get(endpoint.id)),
  ]);
  const own = new Set(places.map(({ endpoint }) => endpoint.id));
  return {
    lanes: lanes.items.filter(({ endpointId }) => own.has(endpointId)),
    houses: places.map(({ house }, index) => ({ house, endpoint: endpoints[index] })),
  };
}

const REDRAW_MS = 500;
const REPORT_LINES = 20;
const LINE_MS = 5000;

async function watch(run: Run<DemoOptions>, look: () => Promise<Moment>, signal: AbortSignal): Promise<void> {
  const { terminal, clock } = run.context;
  const isLive = terminal.isTty && !run.print.json;
  const screen = new Screen(terminal);
  try {
    while (!signal.aborted) {
      await clock.sleep(isLive ? REDRAW_MS : LINE_MS, signal);
      if (signal.aborted) break;
      const moment = await look();
      if (isLive) {
        const canvas = { width: terminal.columns(), colour: terminal.colour };
        const most = Math.max(1, (terminal.rows() ?? 24) - 2);
        screen.show([...drawBoard(moment, canvas, most), "Ctrl-C ends it."]);
      } else run.print.hint(summary(moment));
    }
  } finally {
    screen.close();
  }
}

function summary({ published, lanes, houses }: Moment): string {
  const taken = houses.reduce((sum, { house }) => sum + house.report().taken, 0);
  const blocked = lanes.filter(({ blockedMs }) => blockedMs !== null).length;
  return `${count(published, "event")} published, ${count(taken, "delivery", "deliveries")} taken, ${count(blocked, "lane")} blocked`;
}

function reportOf({ published, passedMs, houses, lanes }: Moment): unknown {
  return {
    published,
    passedMs: Math.round(passedMs),
    endpoints: houses.map(({ house, endpoint }) => ({
      name: house.character.name,
      state: endpoint?.state ?? null,
      ...house.report(),
    })),
    lanes,
  };
}

function tell({ print, context }: Run<DemoOptions>, moment: Moment): void {
  const canvas = { width: context.terminal.columns(), colour: context.terminal.colour };
  for (const line of drawBoard(moment, canvas, REPORT_LINES)) context.terminal.write(`${line}\n`);
  print.line();
  print.line(summary(moment));
  print.hint({ text: "The endpoints of the town are removed again.", tone: "faint" });
}
