/** One step of the walk that the README tells. */
export type Step =
  /** Typed into a terminal of its own, in which it goes on running. */
  | { readonly kind: "stays_open"; readonly name: string; readonly shell: string; readonly shows: string }
  /** Typed, and waited for. */
  | { readonly kind: "runs"; readonly shell: string; readonly shows: string }
  /** What such a terminal has printed by then. */
  | { readonly kind: "has_printed"; readonly name: string; readonly shows: string };

const BLOCK = /(?:<!-- walk: ([\w ]+) -->\n\n)?```(sh|text)\n(.*?)```/gs;

/** Reads the steps of a section. A block of text shows what the block before it prints. */
export function readWalk(page: string, title: string): readonly Step[] {
  const [, section = ""] = new RegExp(`^## ${title}$(.*?)^## `, "ms").exec(page) ?? [];
  const steps: Step[] = [];
  for (const [, note = "", language, text = ""] of section.matchAll(BLOCK)) {
    const last = steps.at(-1);
    if (language === "sh")
      steps.push(
        note === ""
          ? { kind: "runs", shell: text, shows: "" }
          : { kind: "stays_open", name: note, shell: text, shows: "" },
      );
    else if (note.endsWith(" has printed"))
      steps.push({ kind: "has_printed", name: note.replace(" has printed", ""), shows: text });
    else if (last !== undefined) steps.splice(-1, 1, { ...last, shows: text });
  }
  return steps;
}

/** What was printed, as it was shown: `…` stands for what is different each time, and columns may be wider. */
export function asShown(shows: string): RegExp {
  const lines = shows
    .trimEnd()
    .split("\n")
    .map((line) =>
      line
        .trimEnd()
        .split(/\s+/)
        .map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("…", "\\S.*?"))
        .join(" +"),
    );
  return new RegExp(`^${lines.join(" *\\n")} *$`, "m");
}
