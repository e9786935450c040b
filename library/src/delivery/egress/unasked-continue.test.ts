import { describe, expect, it } from "vitest";
import { UnaskedContinue } from "./unasked-continue.js";

const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";
const HINTS = "HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n";
const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/** What passes of a text that comes in pieces of this size. */
function passedOf(text: string, size: number, filter = new UnaskedContinue()): string {
  let passed = "";
  for (let at = 0; at < text.length; at += size) {
    passed += Buffer.from(filter.pass(Buffer.from(text.slice(at, at + size), "latin1"))).toString("latin1");
  }
  return passed;
}

describe.each([1, 2, 7, 1000])("an answer in pieces of %i bytes", (size) => {
  it.each([
    ["passes as it is", OK, OK],
    ["loses an unasked 100 before it", CONTINUE + OK, OK],
    ["loses each of several", CONTINUE + HINTS + CONTINUE + OK, HINTS + OK],
    ["loses one with headers", `HTTP/1.0 100\r\nx: y\r\n\r\n${OK}`, OK],
    ["keeps its body, whatever it says", `${OK}${CONTINUE}`, `${OK}${CONTINUE}`],
    ["of another protocol passes", `HTTP/1.1 101 x\r\n\r\n${CONTINUE}`, `HTTP/1.1 101 x\r\n\r\n${CONTINUE}`],
    ["that is short and none passes", "hi\n", "hi\n"],
    ["that is none passes", "220 mail.example.com ESMTP\r\n\r\n", "220 mail.example.com ESMTP\r\n\r\n"],
  ])("%s", (_what, text, passed) => {
    expect(passedOf(text, size)).toBe(passed);
  });

  it("of the next request loses its own", () => {
    const filter = new UnaskedContinue();
    passedOf(OK, size, filter);
    filter.expectAnswer();
    expect(passedOf(CONTINUE + OK, size, filter)).toBe(OK);
  });

  it("loses sixteen and no more, and no head without end", () => {
    expect(passedOf(CONTINUE.repeat(17) + OK, size)).toBe(CONTINUE + OK);
    const endless = `HTTP/1.1 100 Continue\r\n${"x".repeat(20_000)}`;
    expect(passedOf(endless, size)).toBe(endless);
  });
});
