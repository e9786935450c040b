import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { prismaClientOf, readPrismaSchema } from "./prisma-schema.js";
import type { PrismaFacts } from "./prisma-schema.js";

const home = mkdtempSync(join(tmpdir(), "posthorn-prisma-schema-"));
afterAll(() => rmSync(home, { recursive: true }));

const POSTGRES = 'datasource db {\n  provider = "postgresql"\n}\n';
const generator = (...fields: readonly string[]): string =>
  `generator client {\n  ${fields.join("\n  ")}\n}\n${POSTGRES}`;

/** A project in TypeScript, whose schema says this. */
const facts = (text: string, more: Partial<PrismaFacts> = {}): PrismaFacts => ({
  schema: [{ path: "prisma/schema.prisma", text }],
  typescript: true,
  extension: "ts",
  reference: ".js",
  folder: "src/webhooks",
  version: "^7.10.0",
  ...more,
});

const NEW = 'provider = "prisma-client"';
const OLD = 'provider = "prisma-client-js"';
const OUTPUT = 'output = "../src/generated/prisma"';
const CLIENT = "../generated/prisma/client.js";

describe("Prisma's generated client", () => {
  it.each([
    [generator(NEW, OUTPUT), {}, CLIENT],
    [generator(NEW, OUTPUT), { folder: "webhooks" }, "../src/generated/prisma/client.js"],
    [generator(NEW, 'output = "../src/webhooks/prisma"'), {}, "./prisma/client.js"],
    [generator(NEW, OUTPUT), { reference: "" }, "../generated/prisma/client"],
    [generator(NEW, OUTPUT), { extension: "mts", reference: ".mjs" }, CLIENT],
    [generator(NEW, OUTPUT, 'generatedFileExtension = "mts"'), {}, "../generated/prisma/client.mjs"],
    [generator(OLD, OUTPUT), {}, "../generated/prisma/index.js"],
    [generator(OLD), {}, "@prisma/client"],
    [generator(OLD), { typescript: false, extension: "mjs", reference: ".mjs" }, "@prisma/client"],
  ] as const)("is imported from where the generator writes it: %j %j", (text, more, client) => {
    expect(prismaClientOf(facts(text, more))).toBe(client);
  });

  it("is not looked for in comments, nor in what other generators write", () => {
    const text = `// generator old {\n//   output = "../old"\n// }
generator docs {\n  provider = "prisma-docs"\n  output = "../docs"\n}
generator client {\n  ${NEW} // the new one\n  // output = "../older"\n  ${OUTPUT}\n  previewFeatures = ["views"]\n}
datasource db {\n  provider = "postgresql"\n  url = "postgres://127.0.0.1/shop"\n}\n`;
    expect(prismaClientOf(facts(text))).toBe(CLIENT);
  });

  it.each([
    [facts(generator(NEW, OUTPUT), { version: "6.19.0" }), "Prisma 6.19.0"],
    [facts("", { schema: [] }), "prisma/schema.prisma"],
    [facts(POSTGRES), "0 generators"],
    [facts(generator(NEW, OUTPUT) + `generator second {\n  ${OLD}\n}\n`), "2 generators"],
    [facts(generator(NEW, OUTPUT).replace("postgresql", "mysql")), "mysql"],
    [facts(generator(NEW)), "says nothing as its output"],
    [facts(generator(NEW, 'output = env("CLIENT")')), 'env("CLIENT")'],
    [facts(generator(NEW, 'output = "/srv/client"')), "/srv/client"],
    [facts(generator(NEW, OUTPUT), { typescript: false }), "tsx"],
  ])(
    "is refused with what was found, and with the page to read, where no import can be written: %#",
    (found, told) => {
      expect(() => prismaClientOf(found)).toThrow(
        expect.objectContaining({
          message: expect.stringContaining(told) as string,
          cure: expect.stringContaining("docs/orms.md#prisma") as string,
        }),
      );
    },
  );
});

describe("Prisma's schema", () => {
  let projects = 0;
  const pathsIn = (...files: readonly (readonly [path: string, text: string])[]): readonly string[] => {
    const dir = join(home, String(++projects));
    mkdirSync(dir);
    for (const [path, text] of files) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), text);
    }
    return readPrismaSchema(dir).map(({ path }) => path);
  };

  it("is read from where Prisma looks, or from where prisma.config names it", () => {
    expect(pathsIn(["prisma/schema.prisma", ""])).toEqual(["prisma/schema.prisma"]);
    expect(pathsIn(["schema.prisma", ""])).toEqual(["schema.prisma"]);
    const config =
      'export default defineConfig({\n  // schema: "old.prisma",\n  schema: "./db/shop.prisma",\n});';
    expect(
      pathsIn(["prisma.config.ts", config], ["db/shop.prisma", ""], ["prisma/schema.prisma", ""]),
    ).toEqual(["db/shop.prisma"]);
  });

  it("is read from a path that prisma.config joins", () => {
    const config =
      'export default { schema: path.join("db", "shop.prisma"), migrations: { path: "db/migrations" } };';
    expect(
      pathsIn(["prisma.config.ts", config], ["db/shop.prisma", ""], ["prisma/schema.prisma", ""]),
    ).toEqual(["db/shop.prisma"]);
  });

  it("may be a folder of files", () => {
    const config = 'export default { schema: "prisma" };';
    const files = ["prisma/schema.prisma", "prisma/models/invoice.prisma", "prisma/seed.ts"];
    const found = pathsIn(["prisma.config.mjs", config], ...files.map((path) => [path, ""] as const));
    expect(found.toSorted()).toEqual(["prisma/models/invoice.prisma", "prisma/schema.prisma"]);
  });

  it("is nothing where it is not there", () => {
    expect(pathsIn(["prisma.config.ts", 'export default { schema: "gone.prisma" };'])).toEqual([]);
    expect(pathsIn()).toEqual([]);
  });
});
