import { text, textLike, yesOrNo } from "./kinds.js";

/** Keys and tokens. */
export const SECRET_SETTINGS = [
  {
    name: "masterKey",
    key: "master_key",
    kind: textLike(
      /^[A-Za-z0-9+/_-]{43}=?$/,
      "32 bytes in base64, as `posthorn config new-key` prints them",
      "key",
    ),
    default: undefined,
    example: "the output of `posthorn config new-key`",
    secret: "whole",
    doc: [
      "The key under which secrets of sources and endpoints are encrypted in the database.",
      "Better given as POSTHORN_MASTER_KEY or by a file than here; never as a flag on a machine with other users.",
    ],
  },
  {
    name: "masterKeyFile",
    key: "master_key_file",
    kind: text,
    default: undefined,
    example: "./posthorn-data/master.key",
    doc: [
      "A file that holds the master key, readable by its owner only.",
      "On SQLite it is master.key of the data directory, made at the first start. On Postgres a key must be given, the",
      "same to every node. Keep a copy apart from the database: without it no secret can be read again.",
    ],
  },
  {
    name: "groupMayReadKeys",
    key: "group_may_read_keys",
    kind: yesOrNo,
    default: false,
    doc: [
      "Takes master_key_file and database_file also where their group may read them (mode 0640).",
      "For secrets that a supervisor mounts for a group. Others than owner and group may never read them.",
    ],
  },
  {
    name: "firstToken",
    key: "first_token",
    kind: textLike(/^phk_[A-Za-z0-9_-]{43}$/, "a token as `posthorn config new-token` prints it", "token"),
    default: undefined,
    example: "the output of `posthorn config new-token`",
    secret: "whole",
    doc: [
      "The first token for the API, in place of a random one that is printed.",
      "Used where the database has no token yet, and not looked at afterwards.",
    ],
  },
] as const;
