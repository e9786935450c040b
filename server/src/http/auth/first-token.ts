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

type TokenSettings = Pick<Settings, "listen" | "firstToken" | "roles" | "dev">;

/** Refuses to listen where others can reach the server while there is no token and none is configured. */
export async function requireToken(settings: TokenSettings, registry: TokenRegistry): Promise<void> {
  const { listen, firstToken, roles } = settings;
  if (!roles.includes("api") || firstToken !== undefined || isLoopback(listen.host)) return;
  // A random token would have to be printed to a log that many may read.
  if ((await registry.listTokens({ limit: 1 })).length === 0) throw tokenMissing(settings);
}

/** What the start of a node says of tokens. */
export interface TokenStart {
  readonly first: FirstToken | undefined;
  /** Nobody can use the API of this node until one is made. */
  readonly none: boolean;
}

/**
 * Creates the first token where there is none: on a node that answers the API, and where it was asked for (`first_token`,
 * `dev`) or a person sees the output. Elsewhere a random one would be printed into a journal that many may read, by whichever
 * node wins the race.
 */
export async function ensureToken(
  settings: TokenSettings,
  registry: TokenRegistry,
  { clock, seen }: { readonly clock: Clock; readonly seen: boolean },
): Promise<TokenStart> {
  if (!settings.roles.includes("api")) return { first: undefined, none: false };
  if (settings.firstToken !== undefined || settings.dev || seen) {
    return { first: await addFirst(settings, registry, clock), none: false };
  }
  return { first: undefined, none: (await registry.listTokens({ limit: 1 })).length === 0 };
}

async function addFirst(
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
        "Set the first one as POSTHORN_FIRST_TOKEN (`posthorn config new-token` makes one), or make it in the database: " +
        "posthorn token create NAME --offline, with the same settings (--config, --data-dir).",
    },
  );
}
