/** Repeats a run that failed, or makes another one. */
export const CRASH_SEED = Number(process.env["POSTHORN_CRASH_SEED"] ?? 1);

/** Makes a longer campaign: POSTHORN_CRASH_TIMES=20 kills, cuts and restarts twenty times as often. */
export const CRASH_TIMES = Number(process.env["POSTHORN_CRASH_TIMES"] ?? 1);
