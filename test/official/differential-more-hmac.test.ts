import { afterAll, beforeAll, describe, it, vi } from "vitest";
import { expectAgreement } from "./agreement.js";
import { NOW_S } from "./changes.js";
import { MORE_HMAC_SUBJECTS } from "./subjects/all.js";

beforeAll(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW_S * 1000 });
});
afterAll(() => {
  vi.useRealTimers();
});

describe.each(MORE_HMAC_SUBJECTS)("$library", (subject) => {
  it("judges as we do, but for the differences that have a name", { timeout: 300_000 }, () =>
    expectAgreement(subject),
  );
});
