import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CommandFailure } from "../../terminal/failure.js";

/** The fields of package.json that count here. */
export interface Manifest {
  readonly type?: string;
  readonly packageManager?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** A package.json, and how its author lays it out. */
export interface PackageJson {
  readonly manifest: Manifest;
  readonly layout: Layout;
}

interface Layout {
  /** A byte order mark, or nothing. */
  readonly mark: string;
  readonly indent: string;
  readonly newline: string;
  /** What follows the last brace. */
  readonly end: string;
}

const MARK = "\uFEFF";

/** Reads the project's package.json. */
export function readPackageJson(dir: string): PackageJson {
  const path = join(dir, "package.json");
  let text: string;
  let manifest: unknown;
  try {
    text = readFileSync(path, "utf8");
    // Editors on Windows write a mark, which npm reads past and JSON.parse refuses.
    manifest = JSON.parse(text.startsWith(MARK) ? text.slice(1) : text);
  } catch (error) {
    throw unreadable(`${path} cannot be read: ${(error as Error).message}`);
  }
  if (!isObject(manifest)) throw unreadable(`${path} holds no JSON object.`);
  const fields = ["scripts", "dependencies", "devDependencies"] as const;
  const odd = fields.find((field) => manifest[field] !== undefined && !isObject(manifest[field]));
  if (odd !== undefined) throw unreadable(`"${odd}" of ${path} is no JSON object.`);
  return { manifest, layout: layoutOf(text) };
}

/** The manifest's text, laid out as the file was: a rewritten layout would bury the change in a diff. */
export function printPackageJson({ manifest, layout }: PackageJson): string {
  const text = JSON.stringify(manifest, null, layout.indent).replaceAll("\n", layout.newline);
  return `${layout.mark}${text}${layout.end}`;
}

function layoutOf(text: string): Layout {
  return {
    mark: text.startsWith(MARK) ? MARK : "",
    // A file on one line says nothing about indentation: it gets npm's.
    indent: /^\s*\{\r?\n([ \t]+)"/.exec(text.replace(MARK, ""))?.[1] ?? "  ",
    newline: text.includes("\r\n") ? "\r\n" : "\n",
    end: /\}(\s*)$/.exec(text)?.[1] ?? "",
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unreadable(message: string): CommandFailure {
  return new CommandFailure("usage", message, {
    cure: "Run this in a project, after npm init, or name its folder by --dir.",
    code: "manifest_unreadable",
  });
}
