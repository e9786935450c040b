import type { HostEnd, HostOptions } from "./host.js";
import { Host } from "./host.js";

/** Starts a host again whenever it has ended, as an init system does. */
export class Supervisor {
  readonly #options: HostOptions;
  readonly #listeners = new Set<(end: HostEnd, incarnation: number) => void>();
  #host: Promise<Host> | undefined;
  #incarnation = 0;

  constructor(options: HostOptions) {
    this.#options = options;
  }

  /** The host that runs now, or the next one. */
  host(): Promise<Host> {
    this.#host ??= this.#start();
    return this.#host;
  }

  /** `kill -9` at whatever the host is doing. */
  async kill(): Promise<void> {
    await (await this.host()).kill();
  }

  /** Tells of every end until the returned function is called. */
  onEnd(listener: (end: HostEnd, incarnation: number) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Ends the host for good. */
  async stop(): Promise<void> {
    this.#listeners.clear();
    const host = await this.#host?.catch(() => undefined);
    await host?.kill();
  }

  async #start(): Promise<Host> {
    const host = await Host.start(this.#options);
    const incarnation = ++this.#incarnation;
    void host.ended.then((end) => this.#ended(end, incarnation));
    return host;
  }

  #ended(end: HostEnd, incarnation: number): void {
    this.#host = undefined;
    for (const listener of this.#listeners) listener(end, incarnation);
  }
}
