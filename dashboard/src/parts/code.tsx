import type { JSX } from "preact";
import { hexLines, jsonLines, utf8Of } from "../words/exact-json.ts";
import type { Piece } from "../words/exact-json.ts";
import { oneLine } from "../words/format.ts";

const CLASSES: Readonly<Record<Piece["kind"], string>> = {
  key: "k",
  text: "s",
  number: "n",
  word: "n",
  mark: "p",
  space: "",
};

// A body of a megabyte would be fifty thousand rows; the rest is in the file that can be kept.
const MOST_LINES = 2000;

/** JSON as it was sent, in lines; text or bytes where it is none. Everything is text: nothing of it can become a part of the page. */
export function ExactBody({
  bytes,
  label,
}: {
  readonly bytes: Uint8Array;
  readonly label: string;
}): JSX.Element {
  const text = utf8Of(bytes);
  const lines = text === undefined ? undefined : jsonLines(text);
  if (text === undefined) return <HexBody bytes={bytes} label={label} />;
  if (lines === undefined) return <TextBody text={text} label={label} />;
  return (
    <pre class="code" tabIndex={0} aria-label={label}>
      {lines.slice(0, MOST_LINES).map(({ pieces, exact }, index) => (
        <span class={`ln ${exact ? "hit" : ""}`} data-n={index + 1} key={index}>
          <span>
            {pieces.map(({ kind, text: part }, at) => (
              <span class={CLASSES[kind]} key={at}>
                {oneLine(part, 20_000)}
              </span>
            ))}
            {exact && <span class="say">exact, as sent</span>}
          </span>
        </span>
      ))}
      <Rest left={lines.length - MOST_LINES} />
    </pre>
  );
}

export function TextBody({ text, label }: { readonly text: string; readonly label: string }): JSX.Element {
  const lines = text.split("\n");
  return (
    <pre class="code" tabIndex={0} aria-label={label}>
      {lines.slice(0, MOST_LINES).map((line, index) => (
        <span class="ln" data-n={index + 1} key={index}>
          <span>{oneLine(line, 20_000)}</span>
        </span>
      ))}
      <Rest left={lines.length - MOST_LINES} />
    </pre>
  );
}

export function HexBody({
  bytes,
  label,
}: {
  readonly bytes: Uint8Array;
  readonly label: string;
}): JSX.Element {
  const lines = hexLines(bytes);
  return (
    <pre class="code" tabIndex={0} aria-label={label}>
      {lines.map((line) => (
        <span class="hex" key={line}>
          {line}
          {"\n"}
        </span>
      ))}
      <Rest left={Math.ceil((bytes.length - lines.length * 16) / 16)} />
    </pre>
  );
}

function Rest({ left }: { readonly left: number }): JSX.Element | null {
  return left > 0 ? <span class="say">{left} more lines; keep the file to see them.</span> : null;
}

/** Headers, by name. */
export function HeaderTable({
  headers,
}: {
  readonly headers: Readonly<Record<string, string>>;
}): JSX.Element {
  const names = Object.keys(headers).toSorted();
  if (names.length === 0) return <p class="faint small">None is sent along.</p>;
  return (
    <div class="table-wrap">
      <table class="table headers">
        <tbody>
          {names.map((name) => (
            <tr key={name}>
              <td class="mono dim">{name}</td>
              <td class="mono wrap">{oneLine(headers[name] ?? "", 4000)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
