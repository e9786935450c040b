import type { OutboxTurn } from "../outbox/turn.js";

// By the clock, and not by one: the backup may be older than generations that receivers have seen since.
/** Raises the generation of every lane, and of those that are made from now on. */
export function raiseGenerations({ client, nowMs }: OutboxTurn): number {
  client.run("update posthorn_outbox_config set generation = max(generation + 1, ?) where one = 1", nowMs);
  return client.run(
    "update posthorn_lane set generation = (select generation from posthorn_outbox_config where one = 1)",
  );
}
