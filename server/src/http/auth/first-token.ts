import type { Clock } from "posthorn";
import { addressText } from "../../config/print.js";
import type { Settings } from "../../config/settings.js";
import { isLoopback } from "./host-check.js";
import { newToken, tokenHash } from "./new-token.js";
import type { TokenRegistry } from "../../store/token.js";
import { CommandFailure } from "../../terminal/failure.js";

export interface FirstToken {
  readonly token: string;
  /** It was made here, and has to be shown. */
  readonly random: boolean;
}

type TokenSettings = Pick<Settings, "listen" | "firstToken">;

/** Refuses to listen where others can reach the server while there is no token and none is configured. */
export async function requireToken(settings: TokenSettings, registry: TokenRegistry): Promise<void> {
  const { listen, firstToken } = settings;
  if (firstToken !== undefined || isLoopback(listen.host)) return;
  // A random token would have to be printed to a log that many may read.
  if ((await registry.listTokens({ limit: 1 })).length === 0) throw tokenMissing(settings);
}

/** Creates the first token; undefined where a token exists already. */
export async function ensureToken(
  { firstToken }: TokenSettings,
  registry: TokenRegistry,
  clock: Clock,
): Promise<FirstToken | undefined> {
  const made = newToken({ name: "first", scope: "full", expiresAt: undefined }, new Date(clock.now()));
  const token = firstToken ?? made.token;
  const added = await registry.addFirstToken({ ...made.record, hash: tokenHash(token) });
  return added ? { token, random: firstToken === undefined } : undefined;
}

function tokenMissing({ listen }: TokenSettings): CommandFailure {
  const address = addressText(listen);
  return new CommandFailure(
    "usage",
    `Nothing is bound to ${address}, which others can reach, while there is no token.`,
    {
      code: "token_missing",
      cure:
        "Set the first one as POSTHORN_FIRST_TOKEN (`posthorn config new-token` makes one), or start once on loopback, " +
        `which prints one: posthorn serve --listen 127.0.0.1:${listen.port}`,
    },
  );
}
