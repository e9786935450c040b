import type { SourceFile } from "./source.js";
import { violation } from "./source.js";

const directive = /^\s*(?:oxlint|eslint)-disable(?:-next-line|-line)?\b(.*)$/s;

/** A rule that is switched off names itself and says why: `oxlint-disable-next-line rule -- reason`. */
export function checkLintDirectives(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) =>
    file.comments.flatMap((comment) => {
      const rest = directive.exec(comment.value)?.[1];
      // Rule names contain no spaces around a dash, so the first ` -- ` starts the reason.
      if (rest === undefined || /^\s+[\w@/, -]*\w\s+--\s+\S/.test(rest)) return [];
      const cure = "write `oxlint-disable-next-line rule -- reason`.";
      return [
        violation(file, comment.start, `switches a lint rule off without its name and a reason; ${cure}`),
      ];
    }),
  );
}
