/**
 * An ECDSA signature on P-256 as r and s side by side, 32 bytes each, which is what both sides of `#crypto`
 * take; providers send them as DER integers. Undefined when it is anything else: negative or padded
 * integers mean different things to different libraries, and both sides must give one verdict.
 */
export function joinEcdsa(der: Uint8Array): Uint8Array | undefined {
  if (der[0] !== 0x30 || der[1] !== der.length - 2) return undefined;
  const joined = new Uint8Array(64);
  let offset = 2;
  for (const end of [32, 64]) {
    const length = der[offset + 1] ?? 0;
    const integer = der.subarray(offset + 2, offset + 2 + length);
    const digits = integer[0] === 0 ? integer.subarray(1) : integer;
    const minimal = integer[0] === 0 ? (integer[1] ?? 0) >= 0x80 : (integer[0] ?? 0x80) < 0x80;
    if (der[offset] !== 0x02 || integer.length !== length || !minimal || digits.length > 32) return undefined;
    joined.set(digits, end - digits.length);
    offset += 2 + length;
  }
  return offset === der.length ? joined : undefined;
}

/** The opposite, as a sender writes it; `joined` has 64 bytes. */
export function splitEcdsa(joined: Uint8Array): Uint8Array {
  const content = [...derInteger(joined.subarray(0, 32)), ...derInteger(joined.subarray(32))];
  return Uint8Array.of(0x30, content.length, ...content);
}

function derInteger(bytes: Uint8Array): readonly number[] {
  const start = bytes.findIndex((byte) => byte !== 0);
  const digits = bytes.subarray(start < 0 ? -1 : start);
  // A first bit of 1 would make it negative.
  const sign = (digits[0] ?? 0) < 0x80 ? [] : [0];
  return [0x02, digits.length + sign.length, ...sign, ...digits];
}
