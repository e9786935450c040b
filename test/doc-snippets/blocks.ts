/** A block of TypeScript on a page. */
export interface Block {
  /** `docs/receiving.md` */
  readonly page: string;
  /** The line of its first line of code, from 1. */
  readonly line: number;
  readonly code: string;
  /** Marked as one that cannot stand alone. */
  readonly fragment: boolean;
}

/** Every block that a page marks as `ts`. */
export function blocksOf(page: string, text: string): Block[] {
  const blocks: Block[] = [];
  let open: { readonly info: string; readonly line: number; readonly code: string[] } | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const fence = /^```(.*)$/.exec(line);
    if (open === undefined) {
      if (fence !== null) open = { info: fence[1] ?? "", line: index + 2, code: [] };
    } else if (fence === null) {
      open.code.push(line);
    } else {
      const [language, ...marks] = open.info.split(" ");
      if (language === "ts") {
        const fragment = marks.includes("fragment");
        blocks.push({ page, line: open.line, code: open.code.join("\n"), fragment });
      }
      open = undefined;
    }
  }
  return blocks;
}

/**
 * Where a block is compiled: a folder for each page, a file for each block. A first line such as `// receiver.ts`
 * names it, so that other blocks of the page can import it.
 */
export function fileOf({ page, line, code }: Block): string {
  const name = /^\/\/ ([\w[\]./+-]+\.ts)$/m.exec(code.split("\n")[0] ?? "")?.[1] ?? `line-${line}.ts`;
  return `${page.replaceAll("/", "-")}/${name}`;
}

/** The code as it is compiled: on the lines of its page, so that the compiler's messages name those. */
export function sourceOf({ line, code }: Block): string {
  return `${"\n".repeat(line - 1)}${code}\nexport {};\n`;
}
