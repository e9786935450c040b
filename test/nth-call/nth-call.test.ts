import { promiseThroughEveryFailure } from "./every-call.js";
import { World } from "./world.js";

await promiseThroughEveryFailure({
  host: "a host",
  worldOf: (failure) => new World(failure),
  effects: 10,
  verbs: [
    ...["find", "accept", "fail", "refuse", "touch", "flush", "purge"].map((verb) => `inbox.${verb}`),
    ...["addEndpoint", "changeEndpoint", "removeEndpoint", "readEndpoints", "listEndpoints"].map(
      (verb) => `outbox.${verb}`,
    ),
    ...["write", "append", "sequence", "claim", "settle", "release", "untilDue"].map(
      (verb) => `outbox.${verb}`,
    ),
    ...["blockedLanes", "deadLetters", "attempts", "redrive", "skip"].map((verb) => `outbox.${verb}`),
  ],
});
