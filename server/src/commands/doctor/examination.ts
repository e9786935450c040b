import { existsSync, statfsSync } from "node:fs";
import { isPosthornError } from "posthorn";
import type { Clock } from "posthorn";
import type { Settings } from "../../config/settings.js";
import { databasePath } from "../../data-dir.js";
import { openStore } from "../../store/open-store.js";
import type { OpenStore } from "../../parts.js";
import type { SourceRecord } from "../../store/source.js";
import { checkKey, WatchedSeal } from "../../secrets/key-check.js";
import { masterKeyOf, masterKeyPath } from "../../secrets/master-key.js";
import { createSeal } from "../../secrets/seal.js";
import { toldFailure } from "../../terminal/failure.js";
import { count } from "../../terminal/for-people.js";
import type { Finding } from "./diagnosis.js";
import {
  fail,
  judgeClock,
  judgeDisk,
  judgeDurability,
  judgeOpenFiles,
  judgeRetention,
  judgeSchema,
  judgeSetAside,
  judgeStage,
  judgeWindow,
  ok,
} from "./diagnosis.js";

/** Checks an installation. Changes nothing, and works beside a running server. */
export async function examine(settings: Settings, clock: Clock, place = ""): Promise<readonly Finding[]> {
  const machine = [...diskOf(settings), openFilesOf(settings)];
  if (settings.database === undefined && !existsSync(databasePath(settings.dataDir))) {
    return [...machine, ok("database", `none yet in ${settings.dataDir}; \`posthorn serve\` makes it`)];
  }
  let seal: WatchedSeal;
  try {
    seal = new WatchedSeal(createSeal(masterKeyOf(settings, () => false).bytes));
  } catch (error) {
    return [...machine, failed("master key", error)];
  }
  const key = ok("master key", masterKeyPath(settings) ?? "given as a setting");
  try {
    const store = await openStore(settings, { seal, beside: true });
    try {
      return [...machine, key, ...(await examineStore(store, seal, { clock, place }))];
    } finally {
      await store.close();
    }
  } catch (error) {
    return [...machine, key, failed("database", error)];
  }
}

async function examineStore(
  store: OpenStore,
  seal: WatchedSeal,
  { clock, place }: { readonly clock: Clock; readonly place: string },
): Promise<readonly Finding[]> {
  const findings = [
    judgeDurability(await store.lostPromises(), store.kind),
    await clockFinding(store, clock),
  ];
  const schema = judgeSchema(await store.schemaAge(), place);
  // Without the right tables, nothing can be read.
  if (schema.level === "fail") return [...findings, schema];
  return [...findings, schema, ...(await examineContent(store, seal, clock))];
}

/** Each check fails under its own name, and leaves the others to be made. */
async function examineContent(
  store: OpenStore,
  seal: WatchedSeal,
  clock: Clock,
): Promise<readonly Finding[]> {
  const checks: readonly (readonly [check: string, make: () => Promise<readonly Finding[]>])[] = [
    ["secrets", async () => [await secretsFinding(store, seal)]],
    ["retention", async () => [judgeRetention(await store.outbox.retention())]],
    ["windows", () => windowFindings(store)],
    ["dispatch", async () => [await stageFinding(store, clock)]],
    ["set aside", async () => [judgeSetAside((await store.outbox.census()).setAside)]],
  ];
  const findings: Finding[] = [];
  for (const [check, make] of checks) {
    findings.push(...(await make().catch((error: unknown) => [failed(check, error)])));
  }
  return findings;
}

async function secretsFinding(store: OpenStore, seal: WatchedSeal): Promise<Finding> {
  await checkKey(store, seal);
  return ok("secrets", "open under this master key");
}

// Longer than a node takes for what is staged, by far; short enough for a person to wait.
const STAGE_WAIT_MS = 2000;

async function stageFinding({ outbox }: OpenStore, clock: Clock): Promise<Finding> {
  const { staged: first } = await outbox.census();
  if (first === 0) return judgeStage(0, 0);
  await clock.sleep(STAGE_WAIT_MS);
  return judgeStage(first, (await outbox.census()).staged);
}

async function clockFinding(store: OpenStore, clock: Clock): Promise<Finding> {
  const from = clock.monotonic();
  const askedAt = clock.now();
  const theirs = await store.now();
  const halfMs = (clock.monotonic() - from) / 2;
  return judgeClock(theirs === undefined ? undefined : theirs - askedAt - halfMs, halfMs);
}

const PAGE = 200;
const MOST_SOURCES = 10_000;

async function windowFindings({ registry }: OpenStore): Promise<readonly Finding[]> {
  const sources: SourceRecord[] = [];
  for (let after: string | undefined; sources.length < MOST_SOURCES;) {
    const page = await registry.listSources({ after, limit: PAGE });
    sources.push(...page);
    if (page.length < PAGE) break;
    after = page.at(-1)?.name;
  }
  const findings = sources.map(judgeWindow);
  const bad = findings.filter(({ level }) => level !== "ok");
  return bad.length > 0
    ? bad
    : [ok("windows", `${count(sources.length, "source")}, each known longer than its sender retries`)];
}

function diskOf({ database, dataDir }: Settings): readonly Finding[] {
  // On Postgres, the disk that matters is the database's, which cannot be checked from here.
  if (database !== undefined || !existsSync(dataDir)) return [];
  const { bavail, bsize, blocks } = statfsSync(dataDir);
  return [judgeDisk(bavail * bsize, blocks * bsize)];
}

// File descriptors for the program itself: log, database, timers.
const OWN_FILES = 100;

function openFilesOf({ maxConnections, slots, databaseConnections }: Settings): Finding {
  return judgeOpenFiles(openFileLimit(), maxConnections + slots + databaseConnections + OWN_FILES);
}

function openFileLimit(): number | undefined {
  const report = process.report.getReport() as { readonly userLimits?: Record<string, { soft?: unknown }> };
  const { soft } = report.userLimits?.["open_files"] ?? {};
  return typeof soft === "number" ? soft : undefined;
}

function failed(check: string, error: unknown): Finding {
  const { message, cure } = toldFailure(error);
  const code = isPosthornError(error) ? ` (${error.code})` : "";
  return fail(check, `${message}${code}`, cure ?? "The message says what was expected.");
}
