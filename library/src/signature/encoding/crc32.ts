// CRC-32 of ISO-HDLC, as in zlib. No defence against intent: whoever wants a body with a given sum writes one.

const TABLE = table();

function table(): Uint32Array {
  const sums = new Uint32Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let sum = byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
    sums[byte] = sum;
  }
  return sums;
}

/** The CRC-32 of some bytes, as an unsigned number. */
export function crc32(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = (sum >>> 8) ^ (TABLE[(sum ^ byte) & 0xff] as number);
  return (sum ^ 0xffffffff) >>> 0;
}
