import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from "yaml";
import type { Document, Node, Pair } from "yaml";
import { nearest } from "../nearest.js";
import type { Raw } from "./kinds.js";
import type { ConfigFault } from "./config-fault.js";
import { SETTINGS } from "./table.js";

/** A value of the file, and its line. */
export interface FileValue {
  readonly raw: Raw;
  readonly where: string;
}

export interface ReadFile {
  readonly values: ReadonlyMap<string, FileValue>;
  readonly problems: readonly ConfigFault[];
}

/** Parses a configuration file; reports every mistake in its form and its keys. */
export function readConfigFile(path: string, text: string): ReadFile {
  const lines = new LineCounter();
  // The parser refuses duplicate keys; aliases are refused because a few lines could expand to gigabytes.
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
    schema: "core",
  });
  return new FileReader(path, lines).read(document);
}

class FileReader {
  readonly #path: string;
  readonly #lines: LineCounter;
  readonly #values = new Map<string, FileValue>();
  readonly #problems: ConfigFault[] = [];

  constructor(path: string, lines: LineCounter) {
    this.#path = path;
    this.#lines = lines;
  }

  read(document: Document.Parsed): ReadFile {
    for (const { message, pos } of [...document.errors, ...document.warnings]) this.#refuse(pos[0], message);
    const { contents } = document;
    if (isMap(contents)) for (const pair of contents.items) this.#readPair(pair);
    else if (contents !== null && !(isScalar(contents) && contents.value === null)) {
      this.#refuse(0, "The file must hold lines of the form `key: value`.");
    }
    return { values: this.#values, problems: this.#problems };
  }

  #readPair({ key, value }: Pair<Node, Node | null>): void {
    const at = key.range?.[0] ?? 0;
    const name = isScalar(key) ? String(key.value) : "";
    const known = SETTINGS.some((setting) => setting.key === name);
    if (!known) {
      const meant = nearest(
        name,
        SETTINGS.map((setting) => setting.key),
      );
      const guess =
        meant === undefined ? "`posthorn config` prints all of them." : `Did you mean "${meant}"?`;
      return this.#refuse(at, `There is no setting "${name}". ${guess}`);
    }
    const raw = rawOf(value);
    if (raw === "alias")
      return this.#refuse(at, `"${name}" has an alias for its value; write the value out.`);
    if (raw === "none") {
      return this.#refuse(at, `"${name}" has no value that could be used; give it one, or remove the line.`);
    }
    this.#values.set(name, { raw: raw.value, where: this.#whereIs(at) });
  }

  #refuse(at: number, message: string): void {
    this.#problems.push({ where: this.#whereIs(at), message });
  }

  #whereIs(at: number): string {
    return `${this.#path}:${this.#lines.linePos(at).line}`;
  }
}

function rawOf(node: Node | null): { readonly value: Raw } | "alias" | "none" {
  if (isAlias(node)) return "alias";
  if (isSeq(node)) {
    const parts = node.items.map((item) => rawOf(item as Node | null));
    const values = parts.map((part) => (typeof part === "string" ? part : part.value));
    return parts.find((part) => typeof part === "string") ?? { value: values };
  }
  if (!isScalar(node)) return "none";
  const { value } = node;
  const plain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return plain ? { value } : "none";
}
