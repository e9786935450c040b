/**
 * The moments at which a process is killed by the crash tests, in the order in which an event passes them.
 * A test fails when one of them was not reached by a real `kill -9` on every store that has it.
 */
export const FAULT_POINTS = [
  "find.before_read",
  "find.after_read",
  "accept.before_begin",
  "accept.after_begin",
  "accept.after_guard",
  "accept.before_insert",
  "accept.after_insert",
  "accept.before_known",
  "accept.after_known",
  "accept.before_handler",
  "accept.after_handler",
  "accept.before_note",
  "accept.after_note",
  "accept.before_unguard",
  "accept.before_commit",
  "accept.after_commit",
  "accept.before_rollback",
  "accept.after_rollback",
  "fail.before_record",
  "fail.before_attempt",
  "fail.after_record",
  "refuse.before_record",
  "refuse.after_record",
  "touch.before_record",
  "touch.after_record",
  "write.before_begin",
  "write.after_begin",
  "write.before_commit",
  "write.after_commit",
  "dedup.before_lock",
  "dedup.before_record",
  "dedup.after_record",
  "dedup.before_resolve",
  "dedup.after_resolve",
  "reply.before_send",
  "reply.after_send",
] as const;

export type FaultPoint = (typeof FAULT_POINTS)[number];
