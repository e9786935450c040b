import { rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SuiteContext } from "../../suite.js";
import type { IdSource } from "../inbox/event-ids.js";
import { signedEvent } from "../inbox/signed-events.js";

/** Requests as they go over the wire, all of the same length. */
export interface RequestFile {
  readonly path: string;
  readonly requestBytes: number;
  readonly count: number;
}

const MEMORY = "/dev/shm";
let files = 0;

/** Signs requests as of now. In memory where there is such a place: writing them out would be the database's time. */
export class RequestFiles {
  readonly #path: string;
  readonly #head: string;

  constructor(context: Pick<SuiteContext, "onClose">, path: string) {
    const folder = statSync(MEMORY, { throwIfNoEntry: false })?.isDirectory() ? MEMORY : tmpdir();
    this.#path = join(folder, `posthorn-requests-${process.pid}-${files++}`);
    this.#head = `POST ${path} HTTP/1.1\r\n`;
    context.onClose(() => rmSync(this.#path, { force: true }));
  }

  /** In place of those that were there before. */
  sign(count: number, nextId: IdSource): RequestFile {
    const parts = Array.from({ length: count }, () => this.#wire(nextId()));
    const requestBytes = parts[0]?.length ?? 0;
    if (parts.some(({ length }) => length !== requestBytes)) throw new Error("Requests differ in length.");
    writeFileSync(this.#path, Buffer.concat(parts));
    return { path: this.#path, requestBytes, count };
  }

  #wire(id: string): Buffer {
    const { headers, body } = signedEvent(id);
    let head = this.#head;
    for (const [name, value] of Object.entries(headers)) head += `${name}: ${value}\r\n`;
    return Buffer.concat([Buffer.from(`${head}\r\n`), body]);
  }
}
