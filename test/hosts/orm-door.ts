import { readFileSync } from "node:fs";

const manifest = JSON.parse(readFileSync(new URL("../../library/package.json", import.meta.url), "utf8")) as {
  readonly exports: Readonly<Record<string, unknown>>;
};

/** Why a test that needs `posthorn/orm` cannot run; undefined where it can. */
export const withoutOrm: string | undefined =
  "./orm" in manifest.exports ? undefined : "the library has no door posthorn/orm";
