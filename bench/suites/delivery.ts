import { createSender } from "posthorn";
import { postgresStore } from "posthorn/postgres";
import type { Limit, Plan, Suite } from "../suite.js";
import { openBench } from "./inbox/durable-postgres.js";
import type { BenchOutbox } from "./delivery/bench-outbox.js";
import { CLAIM, claimCase, claimRatios, fillPending, LARGE, SMALL } from "./delivery/claim-cases.js";
import { DELIVERY, deliveryCases, deliveryRatios } from "./delivery/delivery-cases.js";
import { dispatcherMemory } from "./delivery/dispatcher-memory.js";
import { lightLoadCases, lightRatios } from "./delivery/light-load-cases.js";
import { openPostgresOutbox } from "./delivery/outbox-tables.js";
import { PUBLISH, publishCases, publishRatios } from "./delivery/publish-cases.js";
import { startReceivingServer } from "./delivery/receiving-server.js";
import { openSqliteOutbox, sqliteCommitOf } from "./delivery/sqlite-outbox.js";
import { openPost } from "./delivery/signed-posts.js";

// The turns of publish; all others are pieces of work of a fixed size.
const full: Plan = { rounds: 7, turnMs: 1500, warmupMs: 1500 };

/** Our own figures alone: the queues of others, the large backlog and light load take minutes. */
const quick: Plan = {
  rounds: 5,
  turnMs: 250,
  warmupMs: 250,
  cases: [
    DELIVERY.raw,
    DELIVERY.drain,
    DELIVERY.sqlite,
    DELIVERY.rawSequential,
    DELIVERY.hot,
    PUBLISH.inHost,
    PUBLISH.plain,
    PUBLISH.coalesced,
    PUBLISH.single,
  ],
  limits: [],
};

const LIGHT_SCHEMA = "light";
const LARGE_SCHEMA = "claim_large";
let databaseUrl = "";

const memory: Limit = {
  name: "dispatcher with 1.1 M pending, resident MB",
  goal: "<= 200",
  measure: () => dispatcherMemory(databaseUrl, LARGE_SCHEMA),
};

export const suite: Suite = {
  plans: { full, quick },
  ratios: [...deliveryRatios, ...publishRatios, ...claimRatios, ...lightRatios],
  limits: [memory],
  unavailable() {
    const resolved = import.meta.resolve("posthorn/dispatch");
    if (resolved.includes("/dist/")) return undefined;
    return `posthorn/dispatch is ${resolved}; what is measured is the built package, so run npm run build`;
  },
  async cases(context) {
    const bench = await openBench(context);
    const { pool } = bench;
    databaseUrl = pool.options.connectionString ?? "";
    const server = await startReceivingServer(context);
    const post = openPost(context, server);
    const outboxIn = (schema: string): ReturnType<typeof openPostgresOutbox> =>
      openPostgresOutbox(pool, schema, server);
    const pending = (schema: string, size: typeof LARGE) => async (): Promise<BenchOutbox> => {
      const outbox = await outboxIn(schema);
      await fillPending(outbox, size, (text) => context.say(text));
      return outbox;
    };
    return [
      ...(await deliveryCases({ context, bench, server, post, url: databaseUrl })),
      ...(await publishCases(pool, await outboxIn("publish"))),
      claimCase(CLAIM.small, pending("claim_small", SMALL)),
      claimCase(CLAIM.large, pending(LARGE_SCHEMA, LARGE)),
      ...(await lightLoadCases({
        pool,
        post,
        outbox: await outboxIn(LIGHT_SCHEMA),
        sqlite: await openSqliteOutbox(context, server),
        sqliteCommit: sqliteCommitOf(context),
        elsewhere: createSender({ store: postgresStore({ client: pool, schema: LIGHT_SCHEMA }) }),
        events: context.quick ? 10 : 100,
      })),
    ];
  },
};
