import { once } from "node:events";
import { Agent, request } from "node:http";
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type Database from "better-sqlite3";
import { migrate } from "posthorn/sqlite";
import type { History, HistoryWriter } from "posthorn/testing";
import { EFFECT_TABLES } from "../crash/database.js";
import { hashOf, writeEnd } from "../crash/end-state.js";
import type { Answer, Passing, Receipt } from "../crash/endpoint-server.js";
import { ENDPOINTS } from "../crash/endpoints.js";
import type { Host } from "../crash/host.js";
import { Supervisor } from "../crash/supervisor.js";
import { createDatabaseFile } from "../sqlite/database-file.js";
import type { DatabaseFile } from "../sqlite/database-file.js";

const PATIENCE_MS = 400;

/** A receiver of Posthorn's in a process and a database of its own, at which deliveries land. */
export class Landing {
  readonly supervisor: Supervisor;
  readonly #file: DatabaseFile;
  readonly #db: Database.Database;
  readonly #agent = new Agent({ keepAlive: true });
  #passed = 0;

  private constructor(file: DatabaseFile, db: Database.Database) {
    this.#file = file;
    this.#db = db;
    this.supervisor = new Supervisor({ store: "sqlite", database: file.path, program: "landing" });
  }

  static async open(): Promise<Landing> {
    const file = createDatabaseFile();
    const db = file.open();
    await migrate(db);
    db.exec(EFFECT_TABLES("blob"));
    db.exec("alter table effect add column lane text; alter table effect add column seq integer");
    return new Landing(file, db);
  }

  /** Hands on what an endpoint got, and says what is to be answered. */
  async pass(history: History, { endpoint }: Receipt, { headers, body }: Passing): Promise<Answer> {
    // Nobody is kept waiting for a process that is starting: its sender has other things to do.
    const host = await Promise.race([this.supervisor.host(), sleep(PATIENCE_MS)]);
    if (host === undefined) return { status: 503, afterMs: 0 };
    const name = { tenant: "default", source: endpoint, id: String(headers["webhook-id"]) };
    const writer = history.writer(`pass-${++this.#passed}`);
    const call = writer.invoke("send", { ...name, bodyHash: hashOf(body), genuine: true });
    try {
      const answer = await this.#post(host, `/${endpoint}`, { headers, body });
      const status = answer.statusCode ?? 0;
      const verdict = answer.headers["posthorn-verdict"] as string | undefined;
      call.ok({ status, verdict });
      const later = answer.headers["retry-after"];
      return { status, afterMs: 0, ...(later !== undefined && { headers: { "retry-after": later } }) };
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === "ECONNREFUSED") call.fail(code);
      else call.unknown(code ?? message);
      return { status: 502, afterMs: 0 };
    }
  }

  /** Writes what has landed to the history. */
  readEnd(writer: HistoryWriter): void {
    const effects = this.#db
      .prepare("select tenant, source, event_id as id, body, done_by as by from effect")
      .all();
    const stored = this.#db
      .prepare(
        "select tenant, source, event_id as id, body, body_hash as hashColumn, outcome from posthorn_inbox",
      )
      .all();
    const counted = this.#db.prepare("select coalesce(sum(n), 0) from counter").pluck().get();
    writeEnd({ effects, stored, counted } as never, writer, ENDPOINTS);
  }

  /** How many effects of a lane were committed after one of a later place (I8). */
  overtaken(): number {
    const found = this.#db
      .prepare(
        `select count(*) from (
           select seq, max(seq) over (partition by source, lane order by rowid rows between unbounded preceding and 1 preceding) as before
           from effect where lane is not null
         ) where before >= seq`,
      )
      .pluck()
      .get();
    return Number(found);
  }

  effects(): number {
    return Number(this.#db.prepare("select count(*) from effect").pluck().get());
  }

  isWhole(): boolean {
    return this.#db.pragma("integrity_check", { simple: true }) === "ok";
  }

  async close(): Promise<void> {
    await this.supervisor.stop();
    this.#agent.destroy();
    this.#file.remove();
  }

  async #post(host: Host, path: string, { headers, body }: Passing): Promise<IncomingMessage> {
    const { port } = host;
    const plain = { ...headers, host: `127.0.0.1:${port}`, connection: "keep-alive" };
    const sent = request({
      port,
      host: "127.0.0.1",
      path,
      method: "POST",
      headers: plain,
      agent: this.#agent,
    });
    sent.end(body);
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    answer.resume();
    await once(answer, "end");
    return answer;
  }
}
