// Ids that foreign senders could send. Each of them once made two events one, or was refused by a database.

const COMPOSED = "caf\u00e9";

/** Ids that must be told apart though something on their way would make two of them equal. */
export const LOOKALIKE_IDS: readonly string[] = [
  ["evt_1", "evt_10", "EVT_1", "evt_1 ", " evt_1", "evt_1\n", "evt_1\0", "evt-1", "evt%1"],
  ["evt\0a", "evt\0b", "evt"],
  ["\ud800", "\ud801", "\ufffd", "a\udc00", "a\udfff", "a\ufffd"],
  [COMPOSED, COMPOSED.normalize("NFD"), "cafe", "\u212b", "\u00c5", "stra\u00dfe", "strasse"],
  ["x".repeat(254), "x".repeat(255), "x".repeat(256)],
  ["x".repeat(1_000_000), `${"x".repeat(999_999)}y`],
  ["1", "01", "1.0", "1e0", "null", "undefined", "0", "-0", "false"],
].flat();

/** Ids that mean something to a language, a database or a protocol. */
export const ODD_IDS: readonly string[] = [
  ["__proto__", "constructor", "toString", "hasOwnProperty"],
  ["' or '1'='1", "'; drop table inbox; --", "$1", ":id", "?", "%", "_", "\\", "\\x00", '"'],
  ["\0", "\r\nSET a b", "{tag}id", "*", " ", "../../etc/passwd"],
  ["\u{1f4ef}", "\ud83d", "\u202eevil", "NaN"],
].flat();
