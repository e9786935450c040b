import type { Plan, Suite } from "../suite.js";
import { startReceivingServer } from "./delivery/receiving-server.js";
import { leaveServerCore, noCores } from "./server/cores.js";
import { startGateway } from "./server/gateway.js";
import type { OpenGateway } from "./server/homes.js";
import { sqliteHome } from "./server/homes.js";
import { SLOW, slowRatios, slowSocketCases } from "./server/slow-socket-cases.js";

// Whoever attacks a server that nobody has attacked before has V8 compile what refuses them: for half a minute that takes 3
// to 5 % of the core, and everybody's p99 is longer by half or more. What is measured is how it goes on.
const full: Plan = { rounds: 7, turnMs: 10_000, warmupMs: 20_000 };
const quick: Plan = { rounds: 5, turnMs: 2000, warmupMs: 1000, cases: [SLOW.alone, SLOW.beside] };

// Apart from the suite `server`: what its cases leave to the disk is written while the next ones run, and a commit that
// waits for seconds says nothing about sockets.
export const suite: Suite = {
  plans: { full, quick },
  ratios: slowRatios,
  limits: [],
  unavailable: noCores,
  async cases(context) {
    leaveServerCore(context);
    const receiver = await startReceivingServer(context);
    const open: OpenGateway = async () => {
      const furnished = await sqliteHome(context, receiver.url);
      return { ...furnished, gateway: await startGateway(context, furnished.home, ["ingest"]) };
    };
    return slowSocketCases(context, open, context.quick ? quick : full);
  },
};
