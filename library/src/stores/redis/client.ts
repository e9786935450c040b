import type { StoreErrorCode } from "../../store-errors.js";
import { PosthornError } from "../../posthorn-error.js";

/** A client or cluster of `ioredis`, as far as it is used here. */
export interface IoredisClient {
  eval(script: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
  config(subcommand: "GET", parameter: string): Promise<unknown>;
  /** What no other client has: told apart by it. */
  defineCommand(name: string, definition: { lua: string; numberOfKeys?: number }): unknown;
}

/** A client, pool, sentinel or cluster of `redis` (node-redis), as far as it is used here. */
export interface NodeRedisClient {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  configGet(parameter: string): Promise<unknown>;
}

/** A client of `ioredis`, or of `redis`. */
export type RedisClient = IoredisClient | NodeRedisClient;

/** The two things that are asked of Redis. */
export interface RedisCommands {
  /** Runs a script on one key, so that it works on a cluster too; on the primary, where a replica may be behind. */
  eval(script: string, key: string, args: readonly string[]): Promise<unknown>;
  /** The value of a setting; undefined where the server does not know it. */
  setting(name: string): Promise<string | undefined>;
}

/** Finds out whose client it is; throws `store_client_unsupported` for anything else. */
export function commandsOf(client: RedisClient): RedisCommands {
  if (!isObject(client) || typeof client.eval !== "function") throw unsupported(client);
  if ("defineCommand" in client && typeof client.defineCommand === "function") return ioredis(client);
  if ("configGet" in client && typeof client.configGet === "function") return nodeRedis(client);
  throw unsupported(client);
}

function ioredis(client: IoredisClient): RedisCommands {
  return {
    eval: (script, key, args) => client.eval(script, 1, key, ...args),
    setting: async (name) => settingIn(await client.config("GET", name), name),
  };
}

function nodeRedis(client: NodeRedisClient): RedisCommands {
  return {
    eval: (script, key, args) => client.eval(script, { keys: [key], arguments: [...args] }),
    setting: async (name) => settingIn(await client.configGet(name), name),
  };
}

/** The reply is a list, an object or a Map, by client and by version of the protocol. */
function settingIn(reply: unknown, name: string): string | undefined {
  if (Array.isArray(reply)) return textOf(reply[reply.findIndex((each) => textOf(each) === name) + 1]);
  if (reply instanceof Map) return textOf(reply.get(name));
  return isObject(reply) && Object.hasOwn(reply, name)
    ? textOf((reply as Readonly<Record<string, unknown>>)[name])
    : undefined;
}

/** A reply as text, also where the client was told to hand out bytes. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function unsupported(client: unknown): PosthornError<StoreErrorCode> {
  const found =
    client === null ? "null" : isObject(client) ? "an object without their methods" : typeof client;
  return new PosthornError(
    "store_client_unsupported",
    `redisDedup: client is ${found}; expected a connected client of \`ioredis\` or of \`redis\` (node-redis).`,
  );
}
