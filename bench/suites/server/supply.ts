import type { SuiteContext } from "../../suite.js";
import type { IdSource } from "../inbox/event-ids.js";
import { orderedIds } from "../inbox/event-ids.js";
import { SOURCE } from "../inbox/signed-events.js";
import { replay } from "./generator.js";
import type { Replayed } from "./generator.js";
import type { MeasuredProcess } from "./measured-process.js";
import { RequestFiles } from "./request-file.js";
import type { RequestFile } from "./request-file.js";

export interface TurnLength {
  readonly turnMs: number;
}

/** What a busy gateway has under way at once. */
export const CONNECTIONS = 128;
// More than a turn takes on most machines; on faster ones, those before it tell.
const SIGNED_PER_SECOND = 20_000;

/** The requests of one case, signed before its turn. */
export class Supply {
  readonly #files: RequestFiles;
  readonly #nextId: IdSource = orderedIds();
  #file: RequestFile | undefined;
  #most = 0;

  constructor(context: Pick<SuiteContext, "onClose">) {
    this.#files = new RequestFiles(context, `/in/${SOURCE}`);
  }

  /** At least half as many again as the fastest turn took. */
  fresh({ turnMs }: TurnLength): void {
    const count = Math.max((turnMs * SIGNED_PER_SECOND) / 1000, this.#most * 1.5);
    this.#file = this.#files.sign(Math.ceil(count), this.#nextId);
  }

  repeated(count: number): void {
    this.#file = this.#files.sign(count, this.#nextId);
  }

  async send(
    { url }: MeasuredProcess,
    { turnMs, repeats }: TurnLength & { readonly repeats: boolean },
  ): Promise<Replayed> {
    if (this.#file === undefined) throw new Error("Nothing was signed.");
    const sent = await replay({ url, file: this.#file, connections: CONNECTIONS, forMs: turnMs, repeats });
    this.#most = Math.max(this.#most, sent.requests);
    return sent;
  }
}
