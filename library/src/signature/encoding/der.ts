// DER as X.509 needs it: definite lengths only, each in its shortest form, nothing read twice. Every step
// moves forward or gives up, so no input makes it slow.

/** One element: its tag, and where it starts, where its content starts and where it ends. */
export interface DerElement {
  readonly tag: number;
  readonly start: number;
  readonly content: number;
  readonly end: number;
}

export const DER = {
  integer: 0x02,
  bitString: 0x03,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  version: 0xa0,
} as const;

// Three bytes of length reach 16 MiB; no certificate does.
const MAX_LENGTH_BYTES = 3;

/** The element at `start`, which must end by `limit`; undefined when there is none or it is not DER. */
export function derElement(bytes: Uint8Array, start: number, limit: number): DerElement | undefined {
  const tag = bytes[start];
  const first = bytes[start + 1];
  // Tags of several bytes do not occur in what we read.
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) return undefined;
  if (first < 0x80) return bounded({ tag, start, content: start + 2, end: start + 2 + first }, limit);
  const count = first & 0x7f;
  if (count === 0 || count > MAX_LENGTH_BYTES) return undefined;
  let length = 0;
  for (let index = 0; index < count; index++) length = (length << 8) | (bytes[start + 2 + index] ?? 0);
  // A length that would fit into fewer bytes gives one certificate many spellings.
  if (length < 0x80 || length < 1 << (8 * (count - 1))) return undefined;
  const content = start + 2 + count;
  return bounded({ tag, start, content, end: content + length }, limit);
}

/** The elements of a content, in order; undefined when they are not DER from its first byte to its last. */
export function derElements(
  bytes: Uint8Array,
  parent: Pick<DerElement, "content" | "end">,
): readonly DerElement[] | undefined {
  const elements: DerElement[] = [];
  let position = parent.content;
  while (position < parent.end) {
    const element = derElement(bytes, position, parent.end);
    if (element === undefined) return undefined;
    elements.push(element);
    position = element.end;
  }
  return elements;
}

function bounded(element: DerElement, limit: number): DerElement | undefined {
  return element.end <= limit ? element : undefined;
}
