import { createFakeClock } from "posthorn/testing";
import { expect, it } from "vitest";
import { IngestLines } from "./ingest-lines.js";

function bench() {
  const clock = createFakeClock();
  const lines: string[] = [];
  const note = (level: string) => (facts: object, text?: string) =>
    void lines.push(`${level} ${text ?? ""} ${JSON.stringify(facts)}`);
  const log = { debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") };
  return { clock, lines, made: new IngestLines({ log, clock }) };
}

it("each stored, duplicate and rejected request is one line", () => {
  const { lines, made } = bench();
  made.write({ source: "stripe", verdict: "stored", type: "invoice.paid", eventId: "evt_1" });
  made.write({ source: "stripe", verdict: "duplicate", type: "invoice.paid", eventId: "evt_1" });
  made.write({ source: "stripe", verdict: "rejected", code: "signature_mismatch" });
  expect(lines).toEqual([
    'info stored {"source":"stripe","id":"evt_1","type":"invoice.paid"}',
    'info duplicate {"source":"stripe","id":"evt_1","type":"invoice.paid"}',
    'warn rejected {"source":"stripe","code":"signature_mismatch"}',
  ]);
});

it("of a flood some are written, and how many were left out; another source is heard meanwhile", async () => {
  const { clock, lines, made } = bench();
  for (let n = 0; n < 5000; n++) made.write({ source: "noisy", verdict: "rejected" });
  expect(lines).toHaveLength(100);
  made.write({ source: "calm", verdict: "stored" });
  expect(lines.at(-1)).toContain("calm");
  await clock.advance(10_000);
  for (let n = 0; n < 400; n++) made.write({ source: "noisy", verdict: "rejected" });
  expect(lines.find((line) => line.includes("lines left out"))).toContain('"requests":4901');
});
