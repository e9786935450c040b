import { execFile, execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Publication } from "../library/src/publication.js";

// spec/outbox.md and its vectors, as programs in other languages have them.

export interface OutboxVector {
  readonly name: string;
  readonly publication: Readonly<Record<string, unknown>>;
  readonly row: OutboxRow;
}

export interface OutboxRow {
  readonly public_id: string;
  readonly tenant: string;
  readonly source: string;
  readonly type: string;
  readonly key: string | null;
  readonly content_type: string;
  readonly headers: string | null;
  readonly event_ms: number;
  /** Of "publish later"; null where the event is staged at once. */
  readonly deliver_ms: number | null;
  readonly expires_ms: number | null;
  readonly body: string;
  readonly content_hash: string;
}

interface OutboxVectors {
  readonly now: number;
  readonly cases: readonly OutboxVector[];
  readonly invalid: readonly Omit<OutboxVector, "row">[];
}

const root = new URL("../", import.meta.url);

export const vectors: OutboxVectors = JSON.parse(
  readFileSync(new URL("spec/vectors/outbox/publications.json", root), "utf8"),
) as OutboxVectors;

const page = readFileSync(new URL("spec/outbox.md", root), "utf8");

/** From which number of migrations on the tables have all that is on the page. */
export const FIRST_VERSION = Number(/From (\d+) on they have all that is on this page/.exec(page)?.[1]);

/** The rows of the page's tables, by their cells: those that say types have them in backticks. */
export function tableRows(): readonly (readonly string[])[] {
  return page.split("\n").flatMap((line) => (line.startsWith("| `") ? [line.split(" | ")] : []));
}

/** A statement of the page, by the name in its first line. */
export function statement(name: string): string {
  const [, sql] = new RegExp("```sql\\n-- " + name + "\\n([^`]*)```").exec(page) ?? [];
  if (sql === undefined) throw new Error(`spec/outbox.md has no statement "${name}".`);
  return sql;
}

/** A publication as our own sender takes it. */
export function publicationOf(given: OutboxVector["publication"]): Publication {
  const { time, deliverAt, expiresAt, body, ...rest } = given as Readonly<Record<string, string | undefined>>;
  return {
    ...rest,
    time: new Date(time ?? Number.NaN),
    ...(deliverAt === undefined ? {} : { deliverAt: new Date(deliverAt) }),
    ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt) }),
    ...(body === undefined ? {} : { body: Buffer.from(body) }),
  } as unknown as Publication;
}

/** A Python that can import a module; undefined where there is none. */
export function pythonWith(module: string): string | undefined {
  const candidates = [process.env["POSTHORN_PYTHON"], "python3", "/usr/bin/python3"];
  return candidates.find((python) => {
    if (python === undefined) return false;
    try {
      execFileSync(python, ["-c", `import ${module}`], { stdio: "ignore" });
      return true;
    } catch {
      // Not installed, or without the module.
      return false;
    }
  });
}

/** Runs an example, and returns the lines that it prints. */
export async function runExample(
  python: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const [file = "", ...rest] = args;
  const program = fileURLToPath(new URL(`examples/outbox-python/${file}`, root));
  const { stdout } = await promisify(execFile)(python, [program, ...rest], {
    env: { ...process.env, ...env },
    timeout: 30_000,
  });
  return stdout.trim().split("\n");
}
