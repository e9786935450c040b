import { systemClock } from "posthorn";
import { expect, it } from "vitest";
import { ensureToken, requireToken } from "./first-token.js";
import { tokenHash } from "./new-token.js";
import type { TokenRecord, TokenRegistry } from "../../store/token.js";

type TokenSettings = Parameters<typeof ensureToken>[0];

function registryOf(tokens: TokenRecord[]): TokenRegistry {
  return {
    listTokens: () => Promise.resolve(tokens),
    addFirstToken: (token: TokenRecord) => {
      if (tokens.length > 0) return Promise.resolve(false);
      tokens.push(token);
      return Promise.resolve(true);
    },
  } as unknown as TokenRegistry;
}

const loopback: TokenSettings = {
  listen: { host: "127.0.0.1", port: 8710 },
  firstToken: undefined,
  roles: ["ingest", "dispatch", "api"],
  dev: false,
};
const given = `phk_${"g".repeat(43)}`;
const onTerminal = { clock: systemClock, seen: true };
const inJournal = { clock: systemClock, seen: false };
const everywhere = { ...loopback, listen: { host: "0.0.0.0", port: 8710 } };

it("the first start makes a random token, once; only its hash is kept", async () => {
  const tokens: TokenRecord[] = [];
  const { first } = await ensureToken(loopback, registryOf(tokens), onTerminal);
  expect(first).toMatchObject({ random: true, token: expect.stringMatching(/^phk_[\w-]{43}$/) as string });
  expect(tokens[0]?.hash).toEqual(tokenHash(first?.token ?? ""));
  expect(JSON.stringify(tokens)).not.toContain(first?.token);
  expect(await ensureToken(loopback, registryOf(tokens), onTerminal)).toEqual({
    first: undefined,
    none: false,
  });
});

it.each([
  ["a node without the role api", { ...loopback, roles: ["ingest", "dispatch"] }, onTerminal, false],
  ["that one with --dev", { ...loopback, roles: ["dispatch"], dev: true }, onTerminal, false],
  [
    "that one with a token that is given",
    { ...loopback, roles: ["ingest"], firstToken: given },
    inJournal,
    false,
  ],
  ["a start whose output goes to a journal", loopback, inJournal, true],
] as const)("no token is made by %s", async (_what, settings, around, none) => {
  const tokens: TokenRecord[] = [];
  expect(await ensureToken(settings, registryOf(tokens), around)).toEqual({ first: undefined, none });
  expect(tokens).toEqual([]);
});

it("--dev counts as asked for, wherever its output goes", async () => {
  const { first } = await ensureToken({ ...loopback, dev: true }, registryOf([]), inJournal);
  expect(first).toMatchObject({ random: true });
});

it("a node without the role api needs no token, wherever it listens", async () => {
  await requireToken({ ...everywhere, roles: ["ingest"] }, registryOf([]));
});

it("an address that others can reach is refused without a token, and the cure names the setting", async () => {
  await expect(requireToken(everywhere, registryOf([]))).rejects.toMatchObject({
    code: "token_missing",
    cure:
      "Set the first one as POSTHORN_FIRST_TOKEN (`posthorn config new-token` makes one), or make it in the database: " +
      "posthorn token create NAME --offline, with the same settings (--config, --data-dir).",
  });
  await requireToken(loopback, registryOf([]));
});

it("with a token that is given or known, it is taken", async () => {
  const tokens: TokenRecord[] = [];
  const settings = { ...everywhere, firstToken: given };
  await requireToken(settings, registryOf(tokens));
  expect(await ensureToken(settings, registryOf(tokens), inJournal)).toEqual({
    first: { token: given, random: false },
    none: false,
  });
  await requireToken(everywhere, registryOf(tokens));
});
