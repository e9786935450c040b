/**
 * `posthorn/redis`: dedup in Redis, for hosts that run it already.
 *
 * @module
 */
export type { IoredisClient, NodeRedisClient, RedisClient } from "./stores/redis/client.js";
export { redisDedup } from "./stores/redis/dedup.js";
export type { RedisClaim, RedisDedup, RedisDedupOptions } from "./stores/redis/dedup.js";
export type { LostPromise } from "./stores/redis/durability.js";
