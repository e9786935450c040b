import { describe, expect, it } from "vitest";
import { PosthornError } from "../../../posthorn-error.js";
import {
  againWhenLost,
  isAnswerLost,
  isConnectionLost,
  isTransient,
  saturated,
  sqlState,
  storeError,
} from "./failure.js";

const answered = (code: string): Error =>
  Object.assign(new Error(`says ${code}`), { code, severity: "ERROR" });
const lost = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });

describe("the server's code", () => {
  it("is found in the error of a driver, and behind the wrapping of an ORM", () => {
    expect(sqlState(answered("23505"))).toBe("23505");
    expect(sqlState(new Error("Failed query", { cause: answered("40001") }))).toBe("40001");
  });

  it.each([
    ["Sequelize", { original: answered("23505") }],
    ["TypeORM", { driverError: answered("23505") }],
    ["Prisma", { code: "P2010", meta: { driverAdapterError: { cause: { originalCode: "23505" } } } }],
  ])("is found where %s keeps it", (_orm, fields) => {
    expect(sqlState(Object.assign(new Error("failed"), fields))).toBe("23505");
  });

  it("is not taken from a code of Node, even one of five letters", () => {
    expect(sqlState(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }))).toBeUndefined();
    for (const thrown of [undefined, null, "text", 5]) expect(sqlState(thrown)).toBeUndefined();
  });

  it("tells an answer from a lost one", () => {
    for (const code of ["23505", "40001", "57014", "53100"]) expect(isAnswerLost(answered(code))).toBe(false);
    for (const code of ["08006", "57P01", "57P02", "40003"]) expect(isAnswerLost(answered(code))).toBe(true);
    expect(isAnswerLost(lost)).toBe(true);
  });

  it("tells a connection that is gone, or about to go, from a statement that failed", () => {
    const ended = Object.assign(new Error("terminated"), { code: "57P01", severity: "FATAL" });
    for (const error of [lost, ended, new Error("Failed query", { cause: lost })])
      expect(isConnectionLost(error)).toBe(true);
    for (const error of [answered("23505"), new Error("mine"), undefined, "text"])
      expect(isConnectionLost(error)).toBe(false);
  });

  it("tells what may succeed on a fresh transaction", () => {
    expect(isTransient(answered("40P01"))).toBe(true);
    expect(isTransient(new Error("wrapped", { cause: answered("40001") }))).toBe(true);
    expect(isTransient(answered("23505"))).toBe(false);
  });
});

describe("a failed statement of ours", () => {
  it.each([
    ["42P01", "store_not_migrated"],
    ["3F000", "store_not_migrated"],
    ["53100", "store_unavailable"],
    ["57P01", "store_unavailable"],
  ])("with %s is %s", (state, code) => {
    const error = storeError(answered(state), "Run migrate.");
    expect(error).toMatchObject({ code, detail: { sqlState: state }, cause: { code: state } });
    expect(error.message.includes("Run migrate.")).toBe(code === "store_not_migrated");
  });

  it("that has a name of ours keeps it", () => {
    const named = new PosthornError("dedup_busy", "busy");
    expect(storeError(named, "")).toBe(named);
  });
});

function failing(errors: readonly Error[]): { run: () => Promise<number>; runs: () => number } {
  let runs = 0;
  const run = (): Promise<number> => {
    const error = errors[runs++];
    return error ? Promise.reject(error) : Promise.resolve(runs);
  };
  return { run, runs: () => runs };
}

describe("what did nothing", () => {
  it("is done again when its connection was dead, three times in all", async () => {
    expect(await againWhenLost(failing([lost, lost]).run)).toBe(3);
    const hopeless = failing([lost, lost, lost, lost]);
    await expect(againWhenLost(hopeless.run)).rejects.toBe(lost);
    expect(hopeless.runs()).toBe(3);
  });

  it("is not done again when the server answered, or no connection was free", async () => {
    for (const error of [answered("23505"), saturated(50)]) {
      const once = failing([error]);
      await expect(againWhenLost(once.run)).rejects.toBe(error);
      expect(once.runs()).toBe(1);
    }
  });
});
