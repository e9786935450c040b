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
