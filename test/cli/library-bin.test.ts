import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";

const root = mkdtempSync(join(tmpdir(), "posthorn-bin-"));
afterAll(() => rmSync(root, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** The library, installed in a project; the server beside it where a place is named. */
function project(name: string): string {
  const own = fileURLToPath(new URL("../../library/bin", import.meta.url));
  cpSync(own, join(root, name, "node_modules/posthorn/bin"), { recursive: true });
  write(`${name}/node_modules/posthorn/package.json`, '{"name":"posthorn","version":"1.2.3"}');
  return join(root, name, "node_modules/posthorn/bin/posthorn.mjs");
}

function server(place: string, says: string): void {
  const manifest = {
    name: "posthorn-server",
    type: "module",
    bin: { posthorn: "dist/main.js" },
    exports: { "./package.json": "./package.json" },
  };
  write(`${place}/node_modules/posthorn-server/package.json`, JSON.stringify(manifest));
  write(
    `${place}/node_modules/posthorn-server/dist/main.js`,
    `process.stdout.write(${JSON.stringify(says)} + JSON.stringify(process.argv.slice(2))); process.exitCode = 3;`,
  );
}

function run(bin: string, cwd: string): { status: number | null; stdout: string; stderr: string } {
  mkdirSync(join(root, cwd), { recursive: true });
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, "source", "list"], {
    cwd: join(root, cwd),
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

describe("the library's command", () => {
  it("hands its arguments over to the server of the project, and ends as it ends", () => {
    const bin = project("whole");
    server("whole", "own ");
    expect(run(bin, "whole")).toEqual({ status: 3, stdout: 'own ["source","list"]', stderr: "" });
  });

  it("finds the server beside itself where the directory has none", () => {
    const bin = project("beside");
    server("beside", "beside ");
    expect(run(bin, "somewhere/else")).toMatchObject({ status: 3, stdout: 'beside ["source","list"]' });
  });

  it("prefers the server of the directory in which it runs", () => {
    const bin = project("global");
    server("global", "global ");
    server("local", "local ");
    expect(run(bin, "local")).toMatchObject({ stdout: 'local ["source","list"]' });
  });

  it("prints the install line of its own version where there is none, and ends with 2", () => {
    const { status, stdout, stderr } = run(project("alone"), "alone");
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain("npm install posthorn-server@1.2.3");
  });

  it("says which server cannot be started", () => {
    const bin = project("broken");
    server("broken", "");
    write("broken/node_modules/posthorn-server/dist/main.js", 'throw new Error("half installed");');
    const { status, stderr } = run(bin, "broken");
    expect(status).toBe(1);
    expect(stderr).toMatch(/posthorn-server\/dist\/main\.js cannot be started: Error: half installed/);
  });
});
