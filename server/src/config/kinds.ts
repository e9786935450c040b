import { isIP } from "node:net";
import type { ListenAddress } from "./settings.js";

/** A value as a flag, a variable or the file gives it. */
export type Raw = string | number | boolean | readonly unknown[];

/** A kind of value: how it is written and read. */
export interface Kind<T> {
  /** What a right value looks like, for messages. */
  readonly expected: string;
  /** For `--help`; undefined for a switch. */
  readonly placeholder: string | undefined;
  /** Undefined where the value is not of this kind. */
  read(raw: Raw): T | undefined;
}

export const text: Kind<string> = {
  expected: "a text (in quotes, if it looks like a number)",
  placeholder: "text",
  read: (raw) => (typeof raw === "string" && raw !== "" ? raw : undefined),
};

export function textLike(pattern: RegExp, expected: string, placeholder: string): Kind<string> {
  return {
    expected,
    placeholder,
    read: (raw) => (typeof raw === "string" && pattern.test(raw) ? raw : undefined),
  };
}

const YES: ReadonlySet<Raw> = new Set<Raw>([true, "true", "yes", "on", "1"]);
const NO: ReadonlySet<Raw> = new Set<Raw>([false, "false", "no", "off", "0"]);

export const yesOrNo: Kind<boolean> = {
  expected: "true or false",
  placeholder: undefined,
  read: (raw) => (YES.has(raw) ? true : NO.has(raw) ? false : undefined),
};

export function count(least: number, most: number): Kind<number> {
  return {
    expected: `a whole number from ${least} to ${most}`,
    placeholder: "number",
    read: (raw) => within(wholeNumber(raw), least, most),
  };
}

const BYTE_UNITS: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
};

export function bytes(least: number, most: number): Kind<number> {
  return {
    expected: `a size such as 512KiB or 1MiB, from ${printBytes(least)} to ${printBytes(most)}`,
    placeholder: "size",
    read: (raw) => within(inUnits(raw, BYTE_UNITS), least, most),
  };
}

// A unit is required: without one, nobody could tell seconds from milliseconds.
const TIME_UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

export function duration(least: number, most: number): Kind<number> {
  return {
    expected: `a duration such as 250ms, 15s or 5m, from ${printDuration(least)} to ${printDuration(most)}`,
    placeholder: "duration",
    read: (raw) => within(inUnits(raw, TIME_UNITS), least, most),
  };
}

export function oneOf<T extends string>(values: readonly T[]): Kind<T> {
  return {
    expected: `one of ${values.join(", ")}`,
    placeholder: values.join("|"),
    read: (raw) => values.find((value) => value === raw),
  };
}

/** A list of a kind: a list in the file, elsewhere separated by commas. */
export function listOf<T>(kind: Kind<T>, { least }: { readonly least: number }): Kind<readonly T[]> {
  return {
    expected: `a list${least > 0 ? `, at least ${least},` : ""} of which each is ${kind.expected}`,
    placeholder: `${kind.placeholder ?? "value"},…`,
    read: (raw) => {
      const parts = partsOf(raw);
      const values = parts?.map((part) => kind.read(part as Raw));
      if (values === undefined || values.length < least) return undefined;
      if (values.some((value) => value === undefined)) return undefined;
      return Object.freeze([...new Set(values as T[])]);
    },
  };
}

function partsOf(raw: Raw): readonly unknown[] | undefined {
  if (Array.isArray(raw)) return raw as readonly unknown[];
  if (typeof raw !== "string") return undefined;
  return raw.trim() === "" ? [] : raw.split(",").map((part) => part.trim());
}

export const listenAddress: Kind<ListenAddress> = {
  expected: "host:port, such as 127.0.0.1:8710 or [::]:8710, or a port alone",
  placeholder: "host:port",
  read: (raw) => {
    const match = /^(?:(?<host>[^\s:[\]/]+|\[[0-9a-f:.]+\]):)?(?<port>\d{1,5})$/i.exec(String(raw));
    const port = Number(match?.groups?.["port"]);
    const host = match?.groups?.["host"] ?? "127.0.0.1";
    if (match === null || port > 65_535) return undefined;
    if (host.startsWith("[") && isIP(host.slice(1, -1)) !== 6) return undefined;
    return Object.freeze({ host: host.replaceAll(/[[\]]/g, ""), port });
  },
};

/** A range or a single address, as the address guard takes it. */
export const addressRange: Kind<string> = {
  expected: "an address or a range, such as 10.1.0.0/16",
  placeholder: "range",
  read: (raw) => {
    const [address = "", prefix, ...rest] = String(raw).split("/");
    const version = isIP(address);
    if (version === 0 || rest.length > 0) return undefined;
    const fits =
      prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
    return fits ? String(raw) : undefined;
  },
};

/** An origin, perhaps with a path under which a proxy has it; without a slash at its end. */
export const publicAddress: Kind<string> = {
  expected: "a URL such as https://hooks.example.com, without query or password",
  placeholder: "url",
  read: (raw) => {
    if (typeof raw !== "string" || !/^https?:\/\//.test(raw) || !URL.canParse(raw)) return undefined;
    const { search, hash, username, password } = new URL(raw);
    return search + hash + username + password === "" ? raw.replace(/\/+$/, "") : undefined;
  },
};

export const postgresUrl: Kind<string> = {
  expected: "a URL such as postgres://user:password@host:5432/name",
  placeholder: "url",
  read: (raw) =>
    typeof raw === "string" && /^postgres(ql)?:\/\//.test(raw) && URL.canParse(raw) ? raw : undefined,
};

function wholeNumber(raw: Raw): number {
  if (typeof raw === "number") return raw;
  return typeof raw === "string" && /^\d{1,15}$/.test(raw) ? Number(raw) : Number.NaN;
}

function inUnits(raw: Raw, units: Readonly<Record<string, number>>): number {
  const match = /^(\d{1,15})\s?([a-z]*)$/i.exec(String(raw));
  const unit = match?.[2]?.toLowerCase() ?? "";
  return match !== null && Object.hasOwn(units, unit)
    ? Number(match[1]) * (units[unit] ?? Number.NaN)
    : Number.NaN;
}

function within(value: number, least: number, most: number): number | undefined {
  return Number.isSafeInteger(value) && value >= least && value <= most ? value : undefined;
}

export function printBytes(value: number): string {
  for (const [unit, size] of [
    ["GiB", 1024 ** 3],
    ["MiB", 1024 ** 2],
    ["KiB", 1024],
  ] as const) {
    if (value >= size && value % size === 0) return `${value / size}${unit}`;
  }
  return String(value);
}

export function printDuration(ms: number): string {
  for (const [unit, size] of [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["m", 60_000],
    ["s", 1000],
  ] as const) {
    if (ms >= size && ms % size === 0) return `${ms / size}${unit}`;
  }
  return `${ms}ms`;
}
