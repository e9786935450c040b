import { createSigner, generateSecret, isPosthornError, signSync } from "posthorn/verify";
import { checks } from "./check.mjs";
import { judgeVectors } from "./judge-vectors.mjs";
import { vectors } from "./vectors.mjs";

/** Runs everything and says in numbers what came of it; the lane compares them with what it knows from the files. */
export async function report() {
  const sync = detectSync();
  /** @type {string[]} */
  const failures = [];
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check(sync);
    } catch (error) {
      failures.push(`${name}: ${String(error)}`);
    }
  }
  const judged = await judgeVectors(vectors, sync);
  return {
    sync,
    checks: Object.keys(checks).length,
    schemes: judged.schemes,
    failures: [...failures, ...judged.failures],
  };
}

/** @returns {import("./check.mjs").Sync} */
function detectSync() {
  try {
    signSync(createSigner({ secrets: generateSecret() }), { id: "evt_1", body: new Uint8Array() });
    return "works";
  } catch (error) {
    if (isPosthornError(error) && error.code === "sync_unavailable") return error.code;
    throw error;
  }
}
