import { systemClock } from "posthorn";
import { expect, it } from "vitest";
import { ensureToken, requireToken } from "./first-token.js";
import { tokenHash } from "./new-token.js";
import type { TokenRecord, TokenRegistry } from "../../store/token.js";

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

const loopback = { listen: { host: "127.0.0.1", port: 8710 }, firstToken: undefined };
const everywhere = { ...loopback, listen: { host: "0.0.0.0", port: 8710 } };
const given = `phk_${"g".repeat(43)}`;

it("the first start makes a random token, once; only its hash is kept", async () => {
  const tokens: TokenRecord[] = [];
  const first = await ensureToken(loopback, registryOf(tokens), systemClock);
  expect(first).toMatchObject({ random: true, token: expect.stringMatching(/^phk_[\w-]{43}$/) as string });
  expect(tokens[0]?.hash).toEqual(tokenHash(first?.token ?? ""));
  expect(JSON.stringify(tokens)).not.toContain(first?.token);
  expect(await ensureToken(loopback, registryOf(tokens), systemClock)).toBeUndefined();
});

it("an address that others can reach is refused without a token, and the cure names the setting", async () => {
  await expect(requireToken(everywhere, registryOf([]))).rejects.toMatchObject({
    code: "token_missing",
    cure:
      "Set the first one as POSTHORN_FIRST_TOKEN (`posthorn config new-token` makes one), or start once on loopback, " +
      "which prints one: posthorn serve --listen 127.0.0.1:8710",
  });
  await requireToken(loopback, registryOf([]));
});

it("with a token that is given or known, it is taken", async () => {
  const tokens: TokenRecord[] = [];
  const settings = { ...everywhere, firstToken: given };
  await requireToken(settings, registryOf(tokens));
  expect(await ensureToken(settings, registryOf(tokens), systemClock)).toEqual({
    token: given,
    random: false,
  });
  await requireToken(everywhere, registryOf(tokens));
});
