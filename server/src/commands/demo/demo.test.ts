import { systemClock } from "posthorn";
import { PosthornError } from "posthorn/client";
import { describe, expect, it } from "vitest";
import { fakeClient, page, problem } from "../../../../test/cli/fake-client.js";
import type { FakeClient } from "../../../../test/cli/fake-client.js";
import { runCommand } from "../../../../test/cli/run-command.js";
import type { RunResult } from "../../../../test/cli/run-command.js";
import { ENDPOINT, LANES } from "../../../../test/cli/samples.js";
import { TOWN } from "./character.js";

function idsOf(client: FakeClient, name: string): readonly string[] {
  return client.calls
    .filter(([called]) => called === name)
    .map(([, first]) => (typeof first === "object" ? (first as { id: string }).id : first))
    .map(String)
    .toSorted();
}

function publishedTo({ calls }: FakeClient): number {
  return calls.flatMap(([called, events]) => (called === "events.publish" ? events : [])).length;
}

function refused(): never {
  throw problem(422, "endpoint_invalid", "Nothing is sent to 127.0.0.1.");
}

function away(): never {
  throw new PosthornError("api_unreachable", "gone");
}

/** A server that runs; the demo is interrupted after some batches of events. */
async function interruptedDemo(
  options: {
    readonly columns?: number;
    readonly answers?: Parameters<typeof fakeClient>[0];
    readonly json?: boolean;
  } = {},
): Promise<RunResult> {
  const stop = new AbortController();
  let batches = 0;
  const client = fakeClient({
    "endpoints.create": (input: object) => ({ ...ENDPOINT, ...input }),
    "endpoints.get": (id: string) => ({ ...ENDPOINT, id }),
    "lanes.list": () => page(LANES),
    "events.publish": () => {
      if (++batches === 3) stop.abort();
      return [];
    },
    ...options.answers,
  });
  const context = { clock: systemClock, interrupted: () => stop.signal };
  const args = ["demo", "--rate", "50", ...(options.json === true ? ["--json"] : [])];
  return runCommand(args, {
    client,
    context,
    ...(options.columns !== undefined && { columns: options.columns, rows: 30 }),
  });
}

describe("the demo", () => {
  it("ends with Ctrl-C, tells what it saw and removes what it made", async () => {
    const { code, out, client } = await interruptedDemo();
    expect(code).toBe(0);
    expect(out).toContain(`${publishedTo(client)} events published, 0 deliveries taken`);
    expect(idsOf(client, "endpoints.create")).toHaveLength(TOWN.length);
    expect(idsOf(client, "endpoints.remove")).toEqual(idsOf(client, "endpoints.create"));
  });

  it("on a terminal takes the screen and gives it back", async () => {
    const { out } = await interruptedDemo({ columns: 100 });
    expect(out).toContain("\u001b[?1049h");
    expect(out.lastIndexOf("\u001b[?1049l")).toBeGreaterThan(out.lastIndexOf("\u001b[?1049h"));
    expect(out).toContain("Ctrl-C ends it.");
  });

  it("for scripts prints one document", async () => {
    const { out, client } = await interruptedDemo({ json: true });
    expect(JSON.parse(out)).toMatchObject({
      published: publishedTo(client),
      endpoints: expect.arrayContaining([
        expect.objectContaining({ name: "bakery", outOfOrder: 0 }),
      ]) as unknown[],
    });
  });

  it("with a server that takes no endpoint here says which flag allows it", async () => {
    expect(await interruptedDemo({ answers: { "endpoints.create": refused } })).toMatchObject({
      code: 1,
      err: expect.stringContaining("posthorn serve --dev") as string,
    });
  });

  it("whose server goes away ends with 3, and still leaves nothing behind", async () => {
    const { code, client } = await interruptedDemo({ answers: { "events.publish": away } });
    expect(code).toBe(3);
    expect(idsOf(client, "endpoints.remove")).toEqual(idsOf(client, "endpoints.create"));
  });

  it("starts no server of its own where one was named", async () => {
    const client = fakeClient({
      "endpoints.list": () => {
        throw new PosthornError("api_unreachable", "The server at http://127.0.0.1:1 could not be reached.");
      },
    });
    expect(await runCommand(["demo", "--url", "http://127.0.0.1:1"], { client })).toMatchObject({ code: 3 });
  });
});

describe("the demo's own server", () => {
  const none = { environment: { PATH: process.env["PATH"] }, clock: systemClock };

  it("that does not start is told with what it said, and leaves nothing behind", async () => {
    const program = [process.execPath, "-e", "console.error('no disk'); process.exit(1)", "--"];
    const { code, err } = await runCommand(["demo"], { context: { ...none, program } });
    expect(code).toBe(1);
    expect(err).toContain("no disk");
  });

  it("is told of where there is no such program", async () => {
    const { code, err } = await runCommand(["demo"], {
      context: { ...none, program: ["/nowhere/posthorn"] },
    });
    expect(code).toBe(1);
    expect(err).toContain("ENOENT");
  });

  it("is stopped when Ctrl-C comes before it is up", async () => {
    const stop = new AbortController();
    stop.abort();
    const program = [process.execPath, "-e", "setInterval(() => {}, 1000)", "--"];
    const context = { ...none, program, interrupted: () => stop.signal };
    expect(await runCommand(["demo"], { context })).toMatchObject({ code: 130 });
  });
});
