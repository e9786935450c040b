import { describe, expect, it } from "vitest";
import { utf8 } from "../../bytes.js";
import { eventData } from "./event-data.js";

const FORM = '{"content-type":"application/x-www-form-urlencoded; charset=utf-8"}';

describe("an event's data", () => {
  it("is the body as JSON, whatever the request says of it", () => {
    expect(eventData(utf8('{"a":1}'), "{}")).toEqual({ a: 1 });
    expect(eventData(utf8('{"a":1}'), '{"content-type":"text/plain"}')).toEqual({ a: 1 });
    expect(eventData(utf8("a=1"), "{}")).toBeUndefined();
  });

  it("is the fields of a form, a repeated one with all its values", () => {
    const body = utf8("MessageSid=SM1&Body=a+b%21&To=1&To=2&To=3");
    expect(eventData(body, FORM)).toEqual({ MessageSid: "SM1", Body: "a b!", To: ["1", "2", "3"] });
  });

  it("is the JSON of a form's only field, where that is the payload", () => {
    const payload = encodeURIComponent('{"action":"opened"}');
    expect(eventData(utf8(`payload=${payload}`), FORM)).toEqual({ action: "opened" });
    expect(eventData(utf8("payload=plain"), FORM)).toEqual({ payload: "plain" });
    expect(eventData(utf8(`payload=${payload}&team=T1`), FORM)).toEqual({
      payload: '{"action":"opened"}',
      team: "T1",
    });
  });

  it("is nothing where the form cannot be read, and no field becomes a prototype", () => {
    expect(eventData(utf8("a=%zz"), FORM)).toBeUndefined();
    const data = eventData(utf8("__proto__=x&constructor=y"), FORM) as object;
    expect(Object.entries(data)).toEqual([
      ["__proto__", "x"],
      ["constructor", "y"],
    ]);
    expect(Object.getPrototypeOf(data)).toBe(Object.prototype);
  });
});
