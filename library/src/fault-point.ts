/**
 * The moments at which a process is killed by the crash tests, in the order in which an event passes them.
 * A test fails when one of them was not reached by a real `kill -9` on every store that has it.
 */
export const FAULT_POINTS = [
  "accept.before_begin",
  "accept.after_begin",
  "accept.after_insert",
  "accept.before_handler",
  "accept.after_handler",
  "accept.before_commit",
  "accept.after_commit",
  "dedup.before_record",
  "dedup.after_record",
  "fail.before_record",
  "fail.after_record",
  "reply.before_send",
  "reply.after_send",
] as const;

export type FaultPoint = (typeof FAULT_POINTS)[number];
