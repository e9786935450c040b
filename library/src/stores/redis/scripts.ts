// Values are "done <mark>" or "claim <mark>". The mark is random and new with every call: a client that sends
// a command again, because the answer was lost, finds its own mark and not "duplicate"; and nobody can confirm
// or release what is another's. Each script takes one key, so that it runs on a cluster.

export const DONE = "done ";
export const CLAIM = "claim ";

/** Writes the value if nothing stands there, and returns what stands there now: its own value means first. */
export const TAKE = `
if redis.call('set', KEYS[1], ARGV[1], 'nx', 'px', ARGV[2]) then return ARGV[1] end
return redis.call('get', KEYS[1])`;

/** Turns one's own claim into done for the whole window; 0 when the claim is no more. */
export const CONFIRM = `
local value = redis.call('get', KEYS[1])
if value ~= ARGV[1] and value ~= ARGV[2] then return 0 end
redis.call('set', KEYS[1], ARGV[2], 'px', ARGV[3])
return 1`;

/** Removes one's own value, and nobody else's. */
export const GIVE_BACK = `
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('del', KEYS[1])`;

/** Writes the value whatever stands there. */
export const MARK = `
redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2])
return 1`;

/** Returns what stands there. */
export const LOOK = `return redis.call('get', KEYS[1])`;
