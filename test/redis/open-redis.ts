import { afterAll } from "vitest";
import { noRedis, startRedis } from "../services/redis-server.js";

/** A Redis for one test file, or why there is none. */
export interface OpenedRedis {
  readonly url: string;
  /** A text for skipFor(); undefined where Redis is there. */
  readonly missing: string | undefined;
}

/** REDIS_URL where it is set, else a server of the file's own, stopped when the file ends. */
export async function openRedis(): Promise<OpenedRedis> {
  const given = process.env["REDIS_URL"];
  return given === undefined ? openOwnRedis() : { url: given, missing: undefined };
}

/** A server that the file may configure, fill and stop. */
export async function openOwnRedis(settings: readonly string[] = []): Promise<OpenedRedis> {
  const server = await startRedis(settings);
  afterAll(() => server?.stop());
  return { url: server?.url ?? "", missing: server === undefined ? noRedis : undefined };
}
