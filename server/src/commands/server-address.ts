import { cliFilePath, readCliFile } from "../cli-file.js";
import type { Environment } from "../terminal/colour.js";
import { CommandFailure } from "../terminal/failure.js";

/** The server's URL and a token. */
export interface ServerAddress {
  readonly url: string;
  readonly token: string;
}

/** The flags that name it. */
export interface AddressOptions {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
}

export interface AddressPlaces {
  readonly environment: Environment;
  readonly dataDir: string;
}

const DEFAULT_URL = "http://127.0.0.1:8710";

/** Flags, then the environment, then what `posthorn serve` wrote down on this machine. */
export function serverAddress(options: AddressOptions, places: AddressPlaces): ServerAddress {
  const { POSTHORN_URL, POSTHORN_TOKEN } = places.environment;
  const url = given(options.url) ?? given(POSTHORN_URL);
  const token = given(options.token) ?? given(POSTHORN_TOKEN);
  if (url !== undefined && token !== undefined) return { url: checkedUrl(url), token };
  const written = readCliFile(places.dataDir);
  const found = url ?? written?.url ?? DEFAULT_URL;
  // The token of one server must not be shown to another.
  const own = written !== undefined && sameOrigin(written.url, found) ? written.token : undefined;
  if (token ?? own) return { url: checkedUrl(found), token: token ?? own ?? "" };
  throw new CommandFailure("refused", `No token is known for the server at ${found}.`, {
    cure:
      `Run it in the directory in which \`posthorn serve\` runs (it looked for ${cliFilePath(places.dataDir)}), ` +
      "or give the token with --token or POSTHORN_TOKEN.",
    code: "token_missing",
  });
}

/** The address alone, for what needs no token. */
export function serverUrl(options: AddressOptions, places: AddressPlaces): string {
  const url = given(options.url) ?? given(places.environment["POSTHORN_URL"]);
  return checkedUrl(url ?? readCliFile(places.dataDir)?.url ?? DEFAULT_URL);
}

function given(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

function checkedUrl(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url.replace(/\/+$/, "");
  throw new CommandFailure("usage", `The server's address is "${url}", which is no URL.`, {
    cure: `Write it like ${DEFAULT_URL}.`,
    code: "url_malformed",
  });
}

function sameOrigin(one: string, other: string): boolean {
  return URL.canParse(one) && URL.canParse(other) && new URL(one).origin === new URL(other).origin;
}
