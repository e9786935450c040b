import { readdirSync, readFileSync } from "node:fs";
import { isIP, Socket } from "node:net";
import type { LookupFunction } from "node:net";
import { onTestFinished, vi } from "vitest";
import type { AddressGuardOptions } from "../../library/src/delivery/egress/address-guard.js";

/** What is expected of one sending. `dials`: the addresses to which a connection may be tried, in order. */
export type Expected =
  | { readonly verdict: "allow"; readonly host?: string; readonly dials?: readonly string[] }
  | { readonly verdict: "forbid"; readonly reason: string }
  | { readonly verdict: "unreachable"; readonly reason: "dns" };

export interface SsrfCase {
  readonly name: string;
  readonly url: string;
  readonly settings?: AddressGuardOptions;
  readonly expect?: Expected;
  /** Answers of DNS, or the code of its error. */
  readonly attempts?: readonly { readonly answers: readonly string[] | string; readonly expect: Expected }[];
}

const folder = new URL("../../spec/vectors/ssrf/", import.meta.url);

function readCases(file: string): readonly SsrfCase[] {
  return (JSON.parse(readFileSync(new URL(file, folder), "utf8")) as { cases: SsrfCase[] }).cases;
}

export const ssrfFiles: readonly { readonly file: string; readonly cases: readonly SsrfCase[] }[] =
  readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .map((file) => ({ file, cases: readCases(file) }));

/**
 * Until the test ends, no socket of this process connects: each refuses, after its addresses were written down. It is
 * the last step before the network, so a way around the guard is seen too.
 */
export function recordDials(): string[] {
  const dialled: string[] = [];
  const spy = vi.spyOn(Socket.prototype, "connect").mockImplementation(function connect(
    this: Socket,
    ...given: unknown[]
  ) {
    const [options] = given.flat() as [{ host: string; lookup?: LookupFunction }];
    const { host, lookup } = options;
    if (isIP(host) !== 0 || lookup === undefined) dialled.push(host);
    else
      lookup(
        host,
        { all: true },
        (_error, list) => void dialled.push(...(list as { address: string }[]).map(({ address }) => address)),
      );
    setImmediate(() => this.destroy(Object.assign(new Error("refused"), { code: "ECONNREFUSED" })));
    return this;
  });
  onTestFinished(() => spy.mockRestore());
  return dialled;
}
