import { lookup, Resolver } from "node:dns/promises";
import type { Clock } from "../../clock.js";
import { systemClock } from "../../clock.js";
import { hostsFile } from "./hosts-file.js";
import type { InHostsFile } from "./hosts-file.js";

/** All addresses of a name, in the order in which they are tried. It throws where there is no such name. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** What a resolver is made of; everything has a default. */
export interface ResolverParts {
  /** Asks DNS servers. @default {@link queryResolver} */
  readonly query?: Resolve;
  /** Resolves as every other program of this machine does. */
  readonly system?: Resolve;
  readonly inHostsFile?: InHostsFile;
  readonly clock?: Pick<Clock, "monotonic">;
}

// Each lookup of the system's holds one of Node's four threads, which files and compression need too.
const SYSTEM_AT_ONCE = 2;
// How long a name that failed is not asked for again: its other deliveries would each wait for the same silence.
const FAILED_FOR_MS = 5000;
const MAX_FAILED = 1000;
// The system knows them, and a DNS server does not.
const OF_THE_SYSTEM = /(^|\.)(localhost|local)$|^[^.]+$/;

/**
 * Resolves names for deliveries. DNS servers are asked directly: the system's resolver blocks a thread for as long as a
 * server does not answer, so that a few dead names would stop every other delivery. Only names without a dot, those of the
 * machine and its network (`x.localhost`, `x.local`), and those in the hosts file go to the system, two at once. Callers
 * that ask for the same name share one answer; a failure is remembered for five seconds, an answer is not.
 */
export function createResolver(parts: ResolverParts = {}): Resolve {
  const resolver = new NameResolver(parts);
  return (hostname) => resolver.resolve(hostname);
}

interface Failed {
  readonly error: unknown;
  readonly until: number;
}

class NameResolver {
  readonly #query: Resolve;
  readonly #system: Resolve;
  readonly #inHostsFile: InHostsFile;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #underWay = new Map<string, Promise<readonly string[]>>();
  readonly #failed = new Map<string, Failed>();

  constructor({ query, system = systemLookup, inHostsFile, clock = systemClock }: ResolverParts) {
    this.#query = query ?? queryResolver();
    this.#system = atMost(SYSTEM_AT_ONCE, system);
    this.#inHostsFile = inHostsFile ?? hostsFile();
    this.#clock = clock;
  }

  resolve(hostname: string): Promise<readonly string[]> {
    const known = this.#underWay.get(hostname);
    if (known !== undefined) return known;
    const failed = this.#failed.get(hostname);
    // The same error: whoever reads it is told what was wrong, not that it was asked for before.
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- it is the error of the lookup before
    if (failed !== undefined && this.#clock.monotonic() < failed.until) return Promise.reject(failed.error);
    const asked = this.#ask(hostname).finally(() => this.#underWay.delete(hostname));
    this.#underWay.set(hostname, asked);
    return asked;
  }

  async #ask(hostname: string): Promise<readonly string[]> {
    const name = hostname.toLowerCase().replace(/\.$/, "");
    try {
      const isSystems = OF_THE_SYSTEM.test(name) || (await this.#inHostsFile(name));
      const addresses = await (isSystems ? this.#system(hostname) : this.#query(hostname));
      if (addresses.length === 0) throw new Error(`${hostname} has no address`);
      this.#failed.delete(hostname);
      return addresses;
    } catch (error) {
      this.#remember(hostname, error);
      throw error;
    }
  }

  #remember(hostname: string, error: unknown): void {
    this.#failed.delete(hostname);
    this.#failed.set(hostname, { error, until: this.#clock.monotonic() + FAILED_FOR_MS });
    for (const oldest of this.#failed.keys()) {
      if (this.#failed.size <= MAX_FAILED) break;
      this.#failed.delete(oldest);
    }
  }
}

/** Lets so many calls run at once; the others wait in the order in which they came. */
function atMost(limit: number, resolve: Resolve): Resolve {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (hostname) => {
    if (running >= limit) await new Promise<void>((begin) => waiting.push(begin));
    else running++;
    try {
      return await resolve(hostname);
    } finally {
      // Whoever waits takes the place over, so that nobody who comes meanwhile can take it first.
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}

async function systemLookup(hostname: string): Promise<readonly string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
}

/** Asks DNS servers directly. It reads no hosts file and has no search list. */
export function queryResolver(
  options: { readonly servers?: readonly string[]; readonly timeoutMs?: number } = {},
): Resolve {
  const { servers, timeoutMs = 3000 } = options;
  const create = (): Resolver => {
    const made = new Resolver({ timeout: timeoutMs, tries: 2 });
    if (servers !== undefined) made.setServers(servers);
    return made;
  };
  let resolver = create();
  return async (hostname) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    // One family without an answer is no failure, but a family that was not answered might hide a private address.
    const failed = [v4, v6].find((each) => each.status === "rejected" && !isAbsent(each.reason));
    if (failed?.status === "rejected") {
      // A resolver keeps the servers that the machine had when it was made; by now it may have others.
      resolver = create();
      throw failed.reason;
    }
    return [v4, v6].flatMap((each) => (each.status === "fulfilled" ? each.value : []));
  };
}

function isAbsent(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === "ENODATA" || code === "ENOTFOUND";
}
