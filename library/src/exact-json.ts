/** JSON whose bytes are kept. As a parsed value, numbers would be rounded, and of equal keys only the last would be left. */
export class ExactJson {
  /** One JSON value in UTF-8. */
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}
