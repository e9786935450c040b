import { describe, expect, it } from "vitest";
import { PROVIDER_SCHEMES } from "posthorn/providers";
import { fuzz } from "./fuzz/campaign.js";
import { readCorpora } from "./fuzz/seeds.js";
import type { Corpus, Seed } from "./fuzz/seeds.js";

// `npm run fuzz` runs a million, and measures that time grows no faster than the input; this slice keeps the
// fuzzer itself and the worst mistakes in sight.
const corpora = readCorpora();

function genuineSeed(scheme: string): Seed {
  const seed = corpora.get(scheme)?.seeds.find(({ verified }) => verified !== undefined);
  if (seed === undefined) throw new Error(`The vectors of ${scheme} have no accepted case.`);
  return seed;
}

/** The corpus of one scheme, with a fault put into its code. */
function broken(scheme: string, fault: Partial<Seed["verifier"]["scheme"]>): ReadonlyMap<string, Corpus> {
  const corpus = corpora.get(scheme);
  if (corpus === undefined) throw new Error(`There are no vectors of ${scheme}.`);
  const seeds = corpus.seeds.map((seed) => {
    const verifier = { ...seed.verifier, scheme: { ...seed.verifier.scheme, ...fault } };
    return { ...seed, verifier };
  });
  return new Map([[scheme, { ...corpus, seeds }]]);
}

describe("damaged requests", () => {
  it("are never accepted, and refused with a known code, by every scheme", () => {
    const { verdicts, failures } = fuzz({ executions: 5000, seed: 1 });
    expect(failures).toEqual([]);
    expect([...verdicts.keys()]).toEqual(expect.arrayContaining(PROVIDER_SCHEMES.map(({ name }) => name)));
    for (const counts of verdicts.values()) {
      // A fuzzer that never passes a check tests only the first line of a parser.
      expect(counts.get("accepted") ?? 0).toBeGreaterThan(0);
      expect(counts.size).toBeGreaterThan(2);
    }
  });
});

describe("the fuzzer", () => {
  const { scheme } = genuineSeed("stripe").verifier;
  type Read = typeof scheme.read;
  const read: Read = (request, verifier) => scheme.read(request, verifier);

  it("gives the same verdicts for the same seed", () => {
    const [one, two] = [fuzz({ executions: 2000, seed: 5 }), fuzz({ executions: 2000, seed: 5 })];
    expect(one).toEqual(two);
  });

  it("notices a scheme whose signature no longer covers the body", () => {
    const genuine = genuineSeed("stripe").request;
    // As if the body were read from elsewhere: the signature holds whatever the request brings.
    const fault = {
      read: (...[request, verifier]: Parameters<Read>) => read({ ...request, body: genuine.body }, verifier),
    };
    const { failures } = fuzz({ executions: 5000, seed: 1 }, broken("stripe", fault));
    expect(failures[0]?.why).toBe("accepted with a body that nobody signed");
  });

  it("notices an error that is not ours", () => {
    const fault = {
      identify: () => {
        throw new TypeError("a scheme's mistake");
      },
    };
    const { failures } = fuzz({ executions: 2000, seed: 1 }, broken("stripe", fault));
    expect(failures[0]?.why).toMatch(/identify or handshake threw TypeError/);
  });

  it("notices a parser that stumbles", () => {
    const fault = {
      read: (...[request, verifier]: Parameters<Read>) => {
        if (request.body.length > 400) throw new RangeError("too long");
        return read(request, verifier);
      },
    };
    const { failures } = fuzz({ executions: 2000, seed: 1 }, broken("stripe", fault));
    expect(failures[0]?.why).toMatch(/stumbled: RangeError/);
  });
});
