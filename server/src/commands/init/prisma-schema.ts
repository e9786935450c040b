import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { CommandFailure } from "../../terminal/failure.js";
import type { FileKind } from "./file-kind.js";
import { isAtLeast } from "./version-range.js";

/** A file of Prisma's schema, by its path in the project. */
export interface SchemaFile {
  readonly path: string;
  readonly text: string;
}

const CONFIGS = ["ts", "mts", "cts", "js", "mjs", "cjs"].map((ending) => `prisma.config.${ending}`);
/** Where Prisma looks by itself. */
const USUAL = ["schema.prisma", "prisma/schema.prisma", "prisma/schema"];

/** Reads the schema that prisma.config names, or the one in its usual place; nothing where there is none. */
export function readPrismaSchema(dir: string): readonly SchemaFile[] {
  const config = CONFIGS.find((name) => existsSync(join(dir, name)));
  const text = config === undefined ? "" : uncommented(readFileSync(join(dir, config), "utf8"));
  const named = /\bschema\s*:\s*(["'`][^"'`]+["'`]|(?:path\.)?(?:join|resolve)\([^)]*\))/.exec(text)?.[1];
  const parts = Array.from((named ?? "").matchAll(/["'`]([^"'`]+)["'`]/g), ([, part = ""]) => part);
  const places = parts.length === 0 ? USUAL : [posix.join(...parts)];
  const place = places.find((path) => existsSync(join(dir, path)));
  return place === undefined ? [] : filesAt(dir, place);
}

function filesAt(dir: string, place: string): readonly SchemaFile[] {
  if (!statSync(join(dir, place)).isDirectory())
    return [{ path: place, text: readFileSync(join(dir, place), "utf8") }];
  const inside = readdirSync(join(dir, place), { withFileTypes: true });
  const schema = inside.filter((entry) => entry.isDirectory() || entry.name.endsWith(".prisma"));
  return schema.flatMap(({ name }) => filesAt(dir, posix.join(place, name)));
}

/** What decides how the client is imported. */
export interface PrismaFacts extends FileKind {
  readonly schema: readonly SchemaFile[];
  readonly typescript: boolean;
  /** The folder of the file that imports it. */
  readonly folder: string;
  /** Of `@prisma/client`. */
  readonly version: string | undefined;
}

/** The module of the generated client, as a file of `folder` imports it. */
export function prismaClientOf({ schema, version, ...facts }: PrismaFacts): string {
  if (!isAtLeast(version, [7, 0]))
    throw unfit(`This project has Prisma ${version}; init writes for 7 and newer.`);
  if (schema.length === 0)
    throw unfit(
      `There is no schema of Prisma: neither ${USUAL.join(", ")} nor one that prisma.config names.`,
    );
  const blocks = schema.flatMap(blocksOf);
  const provider = blocks.find(({ kind }) => kind === "datasource")?.fields["provider"];
  if (provider !== "postgresql" && provider !== "postgres")
    throw unfit(`Prisma's datasource is of ${provider ?? "no known provider"}; init writes for postgresql.`);
  const clients = blocks.filter(({ kind, fields }) => kind === "generator" && isClient(fields["provider"]));
  const [only] = clients;
  if (only === undefined || clients.length > 1)
    throw unfit(`Prisma's schema has ${clients.length} generators of a client; init writes for one.`);
  return moduleOf(only, facts);
}

interface Block {
  readonly kind: string;
  /** Of the file. */
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** Its generators and its datasource. A value that is no plain string stays as it is written. */
function blocksOf({ path, text }: SchemaFile): readonly Block[] {
  const blocks = uncommented(text).matchAll(/^\s*(generator|datasource)\s+\w+\s*\{([^}]*)\}/gm);
  return Array.from(blocks, ([, kind = "", body = ""]) => {
    const fields = Array.from(body.matchAll(/^\s*(\w+)\s*=\s*(.+?)\s*$/gm), ([, name = "", value = ""]) => [
      name,
      /^"([^"\\]*)"$/.exec(value)?.[1] ?? value,
    ]);
    return { kind, path, fields: Object.fromEntries(fields) as Record<string, string> };
  });
}

/** A comment begins a line or follows a space: an address has the same two characters. */
function uncommented(text: string): string {
  return text.replaceAll(/(^|\s)\/\/.*$/gm, "$1");
}

const isClient = (provider: string | undefined): boolean =>
  provider === "prisma-client" || provider === "prisma-client-js";

/** How a compiled file ends. */
const ENDINGS: Readonly<Record<string, string>> = { ts: ".js", mts: ".mjs", cts: ".cjs" };

function moduleOf(
  { path, fields }: Block,
  { typescript, reference, folder }: Omit<PrismaFacts, "schema" | "version">,
): string {
  const { output, generatedFileExtension = "ts" } = fields;
  const old = fields["provider"] === "prisma-client-js";
  if (old && output === undefined) return "@prisma/client";
  if (output === undefined || /["\\]/.test(output) || output.startsWith("/"))
    throw unfit(
      `The generator in ${path} says ${output ?? "nothing"} as its output, and no relative folder.`,
    );
  if (!old && !typescript)
    throw unfit(
      `The generator in ${path} writes TypeScript, which this project cannot run: it has neither typescript nor tsx.`,
    );
  const ending = reference === "" && generatedFileExtension === "ts" ? "" : ENDINGS[generatedFileExtension];
  const file = old ? "index.js" : `client${ending ?? ".js"}`;
  const found = posix.relative(folder, posix.join(posix.dirname(path), output, file));
  return found.startsWith(".") ? found : `./${found}`;
}

function unfit(message: string): CommandFailure {
  return new CommandFailure("usage", message, {
    cure: "docs/orms.md#prisma shows a receiver in Prisma's transactions. For handlers on the driver itself, say --database pg.",
    code: "prisma_unfit",
  });
}
