import { afterAll, beforeAll, describe, it, vi } from "vitest";
import { expectAgreement } from "./agreement.js";
import { NOW_S } from "./changes.js";
import { PUBLIC_KEY_SUBJECTS } from "./subjects/all.js";

beforeAll(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW_S * 1000 });
});
afterAll(() => {
  vi.useRealTimers();
});

describe.each(PUBLIC_KEY_SUBJECTS)("$library", (subject) => {
  it("judges as we do, but for the differences that have a name", { timeout: 300_000 }, () =>
    expectAgreement(subject),
  );
});
