import type { JSX } from "preact";
import type { Repeat } from "posthorn/client";
import { hexLines, jsonLines, utf8Of } from "../../words/exact-json.ts";
import { byteSize, clockTime, count, oneLine } from "../../words/format.ts";
import { lineDiff } from "../../words/line-diff.ts";
import { now } from "../../api/live.ts";
import { bytesOf } from "./attempts.ts";

/** The lines of a body as the page shows them, so that a difference stands where one would look for it. */
function linesOf(bytes: Uint8Array): readonly string[] {
  const text = utf8Of(bytes);
  if (text === undefined) return hexLines(bytes);
  const json = jsonLines(text);
  return json === undefined
    ? text.split("\n")
    : json.map(({ pieces }) => pieces.map((piece) => piece.text).join(""));
}

interface CompareProps {
  /** The bytes that were stored first. */
  readonly first: Uint8Array;
  readonly repeat: Repeat;
}

const MARKS = { same: " ", del: "−", add: "+" } as const;

/** The body that was stored, and another one that came under the same id: what differs. */
export function Compare({ first, repeat }: CompareProps): JSX.Element {
  const lines = repeat.body === null ? [] : lineDiff(linesOf(first), linesOf(bytesOf(repeat.body)));
  const when = clockTime(Date.parse(repeat.firstAt), now.value);
  return (
    <div class="compare">
      <p class="small dim">
        {repeat.kind === "conflict"
          ? `At ${when} the same id came with other bytes. They are kept, and nobody gets them.`
          : `At ${when} the same event came again, with the same bytes. It was answered, and not sent again.`}{" "}
        It came {count(repeat.receipts, "time")}.
      </p>
      {lines === undefined && <p class="small">Both are too long to compare here. Keep the files.</p>}
      {lines !== undefined && lines.length > 0 && (
        <pre class="code" tabIndex={0} aria-label="What differs">
          {lines.map(({ kind, text }, index) => (
            <span class={`ln ${kind === "same" ? "" : kind}`} data-n={MARKS[kind]} key={index}>
              <span>{oneLine(text, 20_000)}</span>
            </span>
          ))}
        </pre>
      )}
      <p class="small faint">
        Stored first: {byteSize(first.length)}. Came later: {byteSize(repeat.bodyBytes)}, sha256{" "}
        <span class="mono">{repeat.bodySha256.slice(0, 12)}…</span>
      </p>
    </div>
  );
}
