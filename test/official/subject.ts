import { isPosthornError, systemClock, verifySync } from "posthorn";
import type { ErrorDetail, SignatureErrorCode, Verifier, VerifierOptions } from "posthorn";
import { createChance } from "../chance.js";
import type { Chance } from "../chance.js";
import { NOW_S } from "./changes.js";
import type { Change, Parts, Sample } from "./sample.js";
import { buildSample } from "./sample.js";

/** An official library, and the scheme of ours that must agree with it. */
export interface Subject {
  /** Its name on npm. */
  readonly library: string;
  /** Its function, as docs/differences.md calls it. */
  readonly verifier: string;
  /** How many cases are run, where 10,000 would take a minute and more. */
  readonly cases?: number;
  /** The sample is there for schemes whose receiver must know its own URL. */
  readonly create: (options: VerifierOptions, sample: Sample) => Verifier;
  draw(chance: Chance): Parts;
  /** A change that this provider's requests can suffer. */
  change(chance: Chance): Change;
  /** Signs with code of its own: neither ours nor the library's, or the library's. */
  sign(parts: Parts): Pick<Sample, "headers"> & Partial<Sample>;
  /** The library's verdict; throwing counts as no. */
  accepts(sample: Sample): boolean | Promise<boolean>;
  readonly differences: readonly Difference[];
}

/** A way in which the library judges otherwise, on purpose of ours. */
export interface Difference {
  readonly name: string;
  /** What the library does where Posthorn does the opposite. */
  readonly library: "accepts" | "rejects";
  /** The code of our refusal, or those that it can have, where the library accepts. */
  readonly code?: SignatureErrorCode | readonly SignatureErrorCode[];
  /** Whether the sample, and the detail of our refusal, are of this kind. */
  readonly when?: (sample: Sample, detail: ErrorDetail) => boolean;
  /** What the library does, and why we differ: for docs/differences.md. */
  readonly what: string;
  readonly why: string;
}

export interface Tally {
  readonly cases: number;
  readonly accepted: number;
  /** How often each named difference was met. */
  readonly differences: ReadonlyMap<string, number>;
  readonly disagreements: readonly string[];
}

const MAX_DISAGREEMENTS = 5;

/** Runs the cases of one seed through both sides. */
export async function compare(subject: Subject, cases: number, seed: number): Promise<Tally> {
  const met = new Map<string, number>();
  const disagreements: string[] = [];
  let accepted = 0;
  for (let index = 0; index < cases && disagreements.length < MAX_DISAGREEMENTS; index++) {
    const chance = createChance(seed + index);
    const parts = subject.draw(chance);
    const count = chance.pick([0, 0, 1, 1, 1, 1, 2, 2]);
    const changes = Array.from({ length: count }, () => subject.change(chance));
    const found = await judge(subject, parts, changes);
    if (found.ours === "accepted") accepted++;
    if (found.agree) continue;
    const difference = subject.differences.find((each) => covers(each, found));
    if (difference !== undefined) met.set(difference.name, (met.get(difference.name) ?? 0) + 1);
    else disagreements.push(await reproduction(subject, parts, changes));
  }
  return { cases, accepted, differences: met, disagreements };
}

interface Verdict {
  readonly sample: Sample;
  /** "accepted", or the code of the refusal. */
  readonly ours: string;
  readonly detail: ErrorDetail;
  readonly library: boolean;
  readonly agree: boolean;
}

async function judge(subject: Subject, parts: Parts, changes: readonly Change[]): Promise<Verdict> {
  const sample = buildSample(parts, changes, (each) => subject.sign(each));
  const { ours, detail } = ourVerdict(subject, sample);
  const library = await libraryVerdict(subject, sample);
  return { sample, ours, detail, library, agree: (ours === "accepted") === library };
}

function ourVerdict(subject: Subject, sample: Sample): Pick<Verdict, "ours" | "detail"> {
  const clock = { ...systemClock, now: () => NOW_S * 1000 };
  const { headers, body, url, method } = sample;
  try {
    const verifier = subject.create({ secrets: sample.secret, clock }, sample);
    verifySync(verifier, { headers, body, url, method });
    return { ours: "accepted", detail: {} };
  } catch (error) {
    if (isPosthornError(error)) return { ours: error.code, detail: error.detail };
    throw error;
  }
}

async function libraryVerdict(subject: Subject, sample: Sample): Promise<boolean> {
  try {
    return await subject.accepts(sample);
  } catch {
    return false;
  }
}

function covers(difference: Difference, { sample, ours, detail, library }: Verdict): boolean {
  if ((difference.library === "accepts") !== library) return false;
  const codes: readonly string[] = [difference.code ?? []].flat();
  if (codes.length > 0 && !codes.includes(ours)) return false;
  return difference.when?.(sample, detail) ?? codes.length > 0;
}

/** The disagreement with no more changes than it needs. */
async function reproduction(subject: Subject, parts: Parts, changes: readonly Change[]): Promise<string> {
  let needed = changes;
  for (const change of changes) {
    const fewer = needed.filter((each) => each !== change);
    const found = await judge(subject, parts, fewer);
    if (!found.agree && !subject.differences.some((each) => covers(each, found))) needed = fewer;
  }
  const { sample, ours, library } = await judge(subject, parts, needed);
  return JSON.stringify(
    {
      library: `${subject.library} ${library ? "accepts" : "rejects"}`,
      posthorn: ours,
      changes: needed.map(({ name }) => name),
      ...sample,
      body: sample.body.toString("latin1"),
    },
    null,
    2,
  );
}
