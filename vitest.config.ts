import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string): string => fileURLToPath(new URL(`library/src/${path}`, import.meta.url));

const builtOrInstalled = ["**/node_modules/**", "**/dist/**"];
// These need Postgres or Redis: `npm run check` leaves them out.
const withServices = ["postgres", "sqlite", "redis", "conformance", "server"].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);
// These take servers, other programs or thousands of simulated runs: `npm run check` has to end within a minute.
const whole = [
  "e2e/**/*",
  "nth-call/**/*",
  "simulator/**/*",
  "reporter",
  "fuzz",
  "examples",
  "llms",
  "documented",
].map((name) => `test/${name}.test.ts`);
// These drive a browser against the built server.
const browser = ["test/browser/**/*.test.ts"];
// These kill processes and servers of their own.
const crash = ["test/crash/**/*.test.ts"];
// These use the packed tarballs as a person would: both packages are built for them.
const packed = ["test/packed/**/*.test.ts"];
// The README's walk, in a copy of this checkout: the one of them that every developer runs.
const walk = ["test/packed/walk.test.ts"];
// Folders with a lock of their own are lanes of their own (scripts/lanes.ts): here their packages may be missing.
const ownLock = ["test/consumers/**", "test/official/**", "test/hosts/**", "test/orms/**"];

export default defineConfig({
  resolve: {
    // Tests run on the source: these entries stand for the `imports` and `exports` of library/package.json.
    alias: [
      { find: "#crypto", replacement: source("signature/crypto/crypto-node.ts") },
      { find: "#faults", replacement: source("faults-off.ts") },
      { find: /^posthorn$/, replacement: source("index.ts") },
      { find: /^posthorn\/(.+)$/, replacement: source("$1.ts") },
    ],
  },
  test: {
    testTimeout: 30_000,
    // The first hook of a file may import the whole server, which takes ten times as long on a machine that is busy.
    hookTimeout: 30_000,
    // What a test waits for comes in milliseconds, or in seconds on a machine that is busy; 1 s is what it has otherwise.
    expect: { poll: { timeout: 20_000 } },
    // A new process for each file is mostly waiting: on two cores, one worker would take twice the time.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    reporters: ["default", "./test/reporter.ts"],
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: [
            "library/src/**/*.test.ts",
            "server/src/**/*.test.ts",
            "dashboard/src/**/*.test.ts",
            "simulator/**/*.test.ts",
            "scripts/**/*.test.ts",
            "test/**/*.test.ts",
            "bench/**/*.test.ts",
          ],
          exclude: [
            ...builtOrInstalled,
            ...ownLock,
            ...withServices,
            ...whole,
            ...crash,
            ...packed,
            ...browser,
          ],
          // The files share a process: what one of them leaves behind would be a fault of the library too. A process for
          // each took twice the time.
          isolate: false,
        },
      },
      { extends: true, test: { name: "whole", include: whole } },
      {
        extends: true,
        test: {
          name: "services",
          include: withServices,
          globalSetup: "./test/services.ts",
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: "crash",
          include: crash,
          globalSetup: "./test/crash/setup.ts",
          testTimeout: 60_000,
          // Hosts that start and databases that sync leave a core idle, even where there are two.
          maxWorkers: 2,
        },
      },
      {
        extends: true,
        // One browser at a time: two on two cores are slower than one after the other.
        test: { name: "browser", include: browser, testTimeout: 60_000, hookTimeout: 60_000, maxWorkers: 1 },
      },
      { extends: true, test: { name: "walk", include: walk, testTimeout: 180_000 } },
      {
        extends: true,
        test: {
          name: "packed",
          include: packed,
          exclude: [...builtOrInstalled, ...walk],
          globalSetup: "./test/packed/setup.ts",
          testTimeout: 180_000,
          // People wait for commands that start.
          maxWorkers: 2,
        },
      },
      {
        // The same vectors on WebCrypto, which is what `#crypto` means outside of Node.
        extends: true,
        resolve: { alias: [{ find: "#crypto", replacement: source("signature/crypto/crypto-web.ts") }] },
        test: {
          name: "web",
          include: ["test/vectors.test.ts", "library/src/testing/signed-request/*.test.ts"],
          env: { POSTHORN_CRYPTO: "web" },
        },
      },
      {
        extends: true,
        test: { name: "official", include: ["test/official/**/*.test.ts"], exclude: builtOrInstalled },
      },
      {
        extends: true,
        // The door `posthorn/nest` imports its peers from where the lane has installed them.
        resolve: {
          alias: ["common", "core"].map((name) => ({
            find: `@nestjs/${name}`,
            replacement: fileURLToPath(
              new URL(`test/hosts/node_modules/@nestjs/${name}/index.js`, import.meta.url),
            ),
          })),
        },
        test: {
          name: "hosts",
          include: ["test/hosts/**/*.test.ts"],
          exclude: builtOrInstalled,
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: "orms",
          include: ["test/orms/**/*.test.ts"],
          exclude: builtOrInstalled,
          globalSetup: ["./test/services.ts", "./test/orms/generate-prisma.ts"],
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        // The same promises on versions that need a newer Node: `npm run test:newest-orms` starts it on the Node from npm.
        resolve: {
          alias: Object.entries({ kysely: "dist/index.js", "@mikro-orm/postgresql": "index.js" }).map(
            ([name, file]) => ({
              find: name,
              replacement: fileURLToPath(
                new URL(`test/orms/newest/node_modules/${name}/${file}`, import.meta.url),
              ),
            }),
          ),
        },
        test: {
          name: "newest-orms",
          include: ["conformance", "judged-ways", "page", "transactions", "worker"].map(
            (name) => `test/orms/${name}.test.ts`,
          ),
          env: { ORMS: "kysely,mikro-orm" },
          globalSetup: ["./test/services.ts", "./test/orms/generate-prisma.ts"],
          testTimeout: 60_000,
        },
      },
    ],
  },
});
