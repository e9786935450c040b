import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Person } from "./person.js";

it("a data directory has one server; the second is told which process it is, and Ctrl-C ends the first with 0", async () => {
  const person = new Person();
  const served = await person.serves();
  const second = await person.types("serve", "--dev", "--listen", "127.0.0.1:0");
  expect(second.code).toBe(1);
  expect(second.err).toContain(`is held by process ${served.child.pid}`);

  const other = ["serve", "--dev", "--data-dir", "./other", "--listen", new URL(served.url).host];
  const taken = await person.types(...other);
  expect(taken.code).toBe(1);
  expect(taken.err).toContain("is taken by another program");

  expect(await served.interrupt()).toBe(0);
  expect(served.err).toContain('"msg":"stopped"');
});

it("a wrong setting is refused with its line and the nearest name", async () => {
  const person = new Person();
  writeFileSync(join(person.folder, "posthorn.yaml"), "dev: true\nlisen: 127.0.0.1:0\nslots: many\n");
  const { code, out, err } = await person.types("serve");
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain('posthorn.yaml:2: There is no setting "lisen". Did you mean "listen"?');
  expect(err).toContain('posthorn.yaml:3: "slots" is "many"; expected a whole number');
});

it("a server that does not run, and a token that does not hold, each have their exit code and their cure", async () => {
  const person = new Person();
  const away = ["--url", "http://127.0.0.1:1", "--token", `phk_${"a".repeat(43)}`];
  const unreachable = await person.types("events", ...away);
  expect(unreachable.code).toBe(3);
  expect(unreachable.err).toContain("http://127.0.0.1:1");
  expect(unreachable.err).toContain("posthorn serve");

  expect((await person.types("events")).code).toBe(4);
  const served = await person.serves();
  const wrong = await person.types("events", "--url", served.url, "--token", `phk_${"a".repeat(43)}`);
  expect(wrong.code).toBe(4);
  expect(wrong.err).not.toContain("aaaa");
});
