import { promiseThroughEveryFailure } from "../every-call.js";
import { sqliteGround } from "./sqlite.js";
import { VERBS } from "./verbs.js";
import { EFFECTS, StoredWorld } from "./world.js";

await promiseThroughEveryFailure({
  host: "a host with workers on SQLite",
  worldOf: (failure) => new StoredWorld(sqliteGround, failure),
  verbs: VERBS,
  effects: EFFECTS,
});
