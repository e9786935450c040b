import { promiseThroughEveryFailure } from "../every-call.js";
import { memoryGround } from "./memory.js";
import { VERBS } from "./verbs.js";
import { EFFECTS, StoredWorld } from "./world.js";

await promiseThroughEveryFailure({
  host: "a host with workers on the memory store",
  worldOf: (failure) => new StoredWorld(memoryGround, failure),
  verbs: VERBS,
  effects: EFFECTS,
});
