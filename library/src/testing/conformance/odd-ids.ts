// Ids that foreign senders could send. Each of them once made two events one, or was refused by a database.

const COMPOSED = "caf\u00e9";

/** Ids that must be told apart though something on their way would make them equal. */
export const TWIN_IDS: readonly (readonly [string, string])[] = [
  ["evt_1", "evt_10"],
  ["evt_1", "EVT_1"],
  ["evt_1", "evt_1 "],
  ["evt_1", " evt_1"],
  ["evt_1", "evt_1\n"],
  ["evt", "evt\0"],
  ["evt\0a", "evt\0b"],
  ["\ud800", "\ud801"],
  ["\ud800", "\ufffd"],
  ["a\udc00", "a\udfff"],
  [COMPOSED, COMPOSED.normalize("NFD")],
  ["\u212b", "\u00c5"],
  ["stra\u00dfe", "strasse"],
  ["x".repeat(255), "x".repeat(256)],
  [`${"x".repeat(999_999)}a`, `${"x".repeat(999_999)}b`],
  ["1", "01"],
  ["1", "1.0"],
  ["null", "undefined"],
  ["%", "_"],
];

/** Ids that mean something to a language, a database or a protocol. */
export const ODD_IDS: readonly string[] = [
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "' or '1'='1",
  "'; drop table inbox; --",
  "$1",
  ":id",
  "?",
  "\\",
  "\\x00",
  '"',
  "\0",
  "\r\nSET a b",
  "../../etc/passwd",
  "{tag}id",
  "\u{1f4ef}",
  "\u202eevil",
  " ",
  "0",
  "false",
  "NaN",
  "\ud83d",
];
