import { NOW_S } from "./changes.js";
import { compare } from "./subject.js";
import { SUBJECTS } from "./subjects/all.js";
const RealDate = Date;
class FakeDate extends RealDate {
  constructor(...a: never[]) {
    if (a.length === 0) super(NOW_S * 1000);
    else super(...(a as []));
  }
  static override now() {
    return NOW_S * 1000;
  }
}
globalThis.Date = FakeDate as never;
const names = process.argv.slice(4);
for (const s of SUBJECTS) {
  if (names.length && !names.includes(s.library)) continue;
  if (!names.length && s.library.includes("sendgrid")) continue;
  const t = await compare(s, Number(process.argv[2]), Number(process.argv[3]));
  console.log(
    `== ${s.library} accepted ${t.accepted}`,
    Object.fromEntries(t.differences),
    "unmet",
    s.differences.filter((d) => !t.differences.has(d.name)).map((d) => d.name),
  );
  for (const d of t.disagreements) {
    const x = JSON.parse(d);
    console.log(
      "  ",
      x.library,
      "|",
      x.posthorn,
      "|",
      x.changes.join("; "),
      "|",
      JSON.stringify(x.headers).slice(0, 260),
      x.body.slice(0, 60),
      x.url,
    );
  }
}
