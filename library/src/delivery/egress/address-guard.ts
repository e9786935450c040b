import { BlockList, isIP } from "node:net";
import { PosthornError } from "../../posthorn-error.js";
import type { AddressRule } from "./address-rules.js";
import { FORBIDDEN_ADDRESSES } from "./address-rules.js";
import type { DeliveryErrorCode } from "../delivery-errors.js";
import { objectToName, objectToPort } from "../../name-and-port-rules.js";
import type { ForbiddenReason } from "../outcome.js";
import { createResolver } from "./resolver.js";
import type { Resolve } from "./resolver.js";

/** What a guard opens and closes. Without any of it, public addresses by https. */
export interface AddressGuardOptions {
  /**
   * Opens these addresses (`10.1.2.3`, `10.0.0.0/8`, `fd00::/8`) and no others; names of private networks
   * (`localhost`, `billing`, `billing.internal`) may then be used as far as they resolve into them. Metadata services
   * are opened by their own address only.
   */
  readonly allowAddresses?: readonly string[];
  /** Closes more: the public addresses of your own network, or the prefix of its NAT64. Wins over `allowAddresses`. */
  readonly denyAddresses?: readonly string[];
  /** Opens `http:`, which anybody on the way can read and change. */
  readonly allowHttp?: boolean;
  /** Opens ports that are closed because other protocols than HTTP use them. */
  readonly allowPorts?: readonly number[];
  /** Resolves names. @default DNS servers, asked directly; see {@link createResolver} */
  readonly resolve?: Resolve;
}

/** Why nothing is sent there. */
export interface Forbidden {
  readonly kind: "forbidden";
  readonly reason: ForbiddenReason;
  /** What was found, and the setting that would allow it. */
  readonly message: string;
}

/** A URL to which may be sent, in the parts that are used from then on. */
export interface AllowedUrl {
  readonly kind: "allowed";
  /** `https://example.com:8443`: what a connection belongs to. */
  readonly origin: string;
  /** Path and query, as they are sent. */
  readonly path: string;
  /** A name, or an address without brackets. */
  readonly hostname: string;
}

/** Judges URLs and addresses. It opens no connection. */
export interface AddressGuard {
  /** Judges what can be judged without DNS: when an endpoint is created or changed, and before each request. */
  judgeUrl(url: string): AllowedUrl | Forbidden;
  /** As `judgeUrl`, but throws `address_forbidden`. */
  requireUrl(url: string): AllowedUrl;
  judgeAddress(address: string): Forbidden | undefined;
  /**
   * The addresses to which a connection for this hostname may be opened. A name is resolved, and refused if **any** of
   * its addresses is forbidden: to use the others would let a name alternate until a race is won, and a public name
   * with a private address is a mistake or an attack in any case. Throws where the name cannot be resolved.
   */
  locate(hostname: string): Promise<readonly string[] | Forbidden>;
}

// Few servers accept longer URLs, and each verdict that we keep costs the length of its URL.
const MAX_URL_LENGTH = 4096;

// One for all guards: what it limits and remembers is the machine's.
const defaultResolver = createResolver();

/** Says what may be sent where. The settings are read once: a guard never changes its mind. */
export function createAddressGuard(options: AddressGuardOptions = {}): AddressGuard {
  return new Guard(options);
}

class Guard implements AddressGuard {
  readonly #allowed: Ranges;
  readonly #allowedExactly: Ranges;
  readonly #denied: Ranges;
  readonly #anyRule: Ranges;
  readonly #rules: readonly { readonly rule: AddressRule; readonly ranges: Ranges }[];
  readonly #opensNames: boolean;
  readonly #allowHttp: boolean;
  readonly #allowPorts: ReadonlySet<number>;
  readonly #resolve: Resolve;

  constructor({ allowAddresses = [], denyAddresses = [], ...rest }: AddressGuardOptions) {
    this.#allowed = new Ranges("allowAddresses", allowAddresses);
    this.#allowedExactly = new Ranges("allowAddresses", allowAddresses.filter(isSingle));
    this.#denied = new Ranges("denyAddresses", denyAddresses);
    this.#anyRule = new Ranges(
      "rules",
      FORBIDDEN_ADDRESSES.map((rule) => rule.range),
    );
    this.#rules = FORBIDDEN_ADDRESSES.map((rule) => ({ rule, ranges: new Ranges("rules", [rule.range]) }));
    this.#opensNames = allowAddresses.length > 0;
    this.#allowHttp = rest.allowHttp ?? false;
    this.#allowPorts = new Set(rest.allowPorts?.map(checkPort));
    this.#resolve = rest.resolve ?? defaultResolver;
  }

  judgeUrl(text: string): AllowedUrl | Forbidden {
    // Only what WHATWG's parser made of it is ever judged or used: `0x7f.1`, `①②⑦.1` and `127。0。0。1` are 127.0.0.1.
    const url = text.length <= MAX_URL_LENGTH && URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined) {
      return forbidden("url", `The URL is not one of at most ${MAX_URL_LENGTH} characters.`);
    }
    const hostname = url.hostname.replace(/^\[|\]$/g, "");
    return (
      this.#objectToParts(url) ??
      (isIP(hostname) === 0 ? this.#objectToName(hostname) : this.judgeAddress(hostname)) ?? {
        kind: "allowed",
        origin: url.origin,
        path: url.pathname + url.search,
        hostname,
      }
    );
  }

  requireUrl(text: string): AllowedUrl {
    const verdict = this.judgeUrl(text);
    if (verdict.kind === "allowed") return verdict;
    const code: DeliveryErrorCode = "address_forbidden";
    throw new PosthornError(code, verdict.message, { detail: { reason: verdict.reason } });
  }

  judgeAddress(address: string): Forbidden | undefined {
    const family = isIP(address);
    // BlockList says of text that is no address that it is not blocked, and reads an address with a zone without it.
    if (family === 0 || address.includes("%")) {
      return forbidden("private_address", `${address.slice(0, 64)} is not a plain address.`);
    }
    if (this.#denied.has(address, family)) {
      return forbidden("private_address", `${address} is in denyAddresses.`);
    }
    if (!this.#anyRule.has(address, family)) return undefined;
    const rule = this.#rules.find(({ ranges }) => ranges.has(address, family))?.rule;
    const opened = rule?.metadata === true ? this.#allowedExactly : this.#allowed;
    if (opened.has(address, family)) return undefined;
    return forbidden(
      "private_address",
      `${address} is in ${rule?.range} (${rule?.why}), where nothing is sent; allowAddresses: ["${address}"] would allow it.`,
    );
  }

  async locate(hostname: string): Promise<readonly string[] | Forbidden> {
    if (isIP(hostname) !== 0) return this.judgeAddress(hostname) ?? [hostname];
    const refused = this.#objectToName(hostname);
    if (refused !== undefined) return refused;
    const addresses = await this.#resolve(hostname);
    if (addresses.length === 0) throw new Error(`${hostname} has no address`);
    const inside = objectToName(hostname) !== undefined;
    for (const address of addresses) {
      const objection =
        this.judgeAddress(address) ?? (inside ? this.#objectToOutside(hostname, address) : undefined);
      if (objection !== undefined) return objection;
    }
    return addresses;
  }

  #objectToParts({ protocol, username, password, port }: URL): Forbidden | undefined {
    if (protocol === "http:" && !this.#allowHttp) {
      return forbidden(
        "scheme",
        "The URL is of http, which anybody on the way can read; allowHttp: true would allow it.",
      );
    }
    if (protocol !== "https:" && protocol !== "http:") {
      return forbidden(
        "scheme",
        `The URL is of the scheme ${protocol.slice(0, 32)} where https: was expected.`,
      );
    }
    if (username !== "" || password !== "") {
      return forbidden("credentials", "The URL has a user name or password in it; put them into a header.");
    }
    // The empty port is the scheme's own.
    const number = port === "" ? 443 : Number(port);
    const why = this.#allowPorts.has(number) ? undefined : objectToPort(number);
    if (why === undefined) return undefined;
    return forbidden(
      "port",
      `The URL is of port ${port}, where nothing is sent (${why}); allowPorts: [${port}] would allow it.`,
    );
  }

  #objectToName(hostname: string): Forbidden | undefined {
    const objection = objectToName(hostname);
    if (objection === undefined || (objection.local && this.#opensNames)) return undefined;
    const cure = objection.local
      ? "; allowAddresses with the addresses that it resolves to would allow it"
      : "";
    return forbidden("name", `The URL's host ${hostname.slice(0, 64)} is refused: ${objection.why}${cure}.`);
  }

  /** A name of a private network may lead into `allowAddresses` and nowhere else: someone may own it in public DNS. */
  #objectToOutside(hostname: string, address: string): Forbidden | undefined {
    if (this.#allowed.has(address, isIP(address))) return undefined;
    return forbidden(
      "name",
      `${hostname} resolves to ${address}; allowAddresses: ["${address}"] would allow it.`,
    );
  }
}

function forbidden(reason: ForbiddenReason, message: string): Forbidden {
  return Object.freeze({ kind: "forbidden", reason, message });
}

/** A set of ranges. One list per family: BlockList takes an IPv4 address for part of `::ffff:0:0/96`. */
class Ranges {
  readonly #v4 = new BlockList();
  readonly #v6 = new BlockList();

  constructor(setting: string, ranges: readonly string[]) {
    for (const each of ranges) this.#add(setting, each);
  }

  has(address: string, family: number): boolean {
    return family === 4 ? this.#v4.check(address, "ipv4") : this.#v6.check(address, "ipv6");
  }

  #add(setting: string, text: string): void {
    const [, address = "", prefix] = /^([^/%]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
    const family = isIP(address);
    const bits = family === 4 ? 32 : 128;
    const length = prefix === undefined ? bits : Number(prefix);
    if (family === 0 || length > bits) {
      throw invalid(
        `${setting} has ${JSON.stringify(text)}; expected an address like 10.1.2.3, or a range like 10.0.0.0/8`,
      );
    }
    if (family === 4) this.#v4.addSubnet(address, length, "ipv4");
    else this.#v6.addSubnet(address, length, "ipv6");
  }
}

function isSingle(range: string): boolean {
  const [address = "", prefix] = range.split("/");
  return prefix === undefined || Number(prefix) === (isIP(address) === 4 ? 32 : 128);
}

function checkPort(port: number): number {
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw invalid(`allowPorts has ${String(port)}; expected whole numbers from 1 to 65535`);
}

function invalid(found: string): PosthornError<DeliveryErrorCode> {
  return new PosthornError("egress_option_invalid", `The address guard cannot be made: ${found}.`);
}
