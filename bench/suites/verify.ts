import { createHmac, timingSafeEqual } from "node:crypto";
import { standardWebhooks, verify, verifySync } from "posthorn/verify";
import { Webhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import type { Goal } from "../goals.js";
import type { Case, Ratio, Suite } from "../suite.js";
import { bundledKB } from "./bundle-size.js";
import {
  createKeys,
  orderBody,
  prefixOf,
  signed,
  SIZES,
  type BenchKeys,
  type BenchRequest,
  type Size,
} from "./signed-requests.js";

const OURS = "posthorn verifySync";
const OURS_ASYNC = "posthorn verify (async)";
const OURS_V1A = "posthorn verifySync, v1a Ed25519";
const STANDARD = "standardwebhooks";
const STANDARD_UNPARSED = "standardwebhooks, jsonParse off";
const SVIX = "svix";
const BARE = "bare createHmac";

const sizes: readonly Size[] = ["1 kB", "64 kB"];

export const suite: Suite = {
  plans: {
    // Many short rounds: a neighbour's burst then spoils a few of them whole, and the median passes over these.
    full: { rounds: 101, turnMs: 20, warmupMs: 500 },
    quick: {
      rounds: 61,
      turnMs: 20,
      warmupMs: 300,
      cases: sizes.flatMap((size) => [OURS, STANDARD, SVIX, BARE].map((name) => at(name, size))),
    },
  },
  ratios: [
    compare(STANDARD, "1 kB", ">= 3"),
    compare(SVIX, "1 kB", ">= 3"),
    compare(BARE, "1 kB", ">= 0.75"),
    compare(STANDARD_UNPARSED, "1 kB"),
    compare(STANDARD, "64 kB", ">= 10"),
    compare(SVIX, "64 kB", ">= 10"),
    compare(BARE, "64 kB"),
    compare(STANDARD_UNPARSED, "64 kB"),
  ],
  limits: [
    {
      name: "verify and standardWebhooks for the web, minified and gzip, kB",
      goal: "<= 5.12",
      measure: () => bundledKB('export { verify, standardWebhooks } from "posthorn/verify";'),
    },
  ],
  unavailable() {
    const resolved = import.meta.resolve("posthorn/verify");
    if (resolved.includes("/dist/")) return undefined;
    return `posthorn/verify is ${resolved}; what is measured is the built package, so run npm run build`;
  },
  cases() {
    const keys = createKeys();
    return sizes.flatMap((size) => casesOf(size, keys));
  },
};

/** Everybody gets the same bytes, as a server has them from the socket, and the same headers. */
function casesOf(size: Size, keys: BenchKeys): Case[] {
  const body = orderBody(SIZES[size]);
  let request = signed("v1", keys, body);
  let requestV1a = signed("v1a", keys, body);
  const beforeTurn = (): void => {
    request = signed("v1", keys, body);
    requestV1a = signed("v1a", keys, body);
  };
  const ours = standardWebhooks({ secrets: [keys.secret] });
  const oursV1a = standardWebhooks({ secrets: [keys.publicKey] });
  const standard = new Webhook(keys.secret);
  const svix = new SvixWebhook(keys.secret);
  const life = (name: string) => ({ name: at(name, size), group: size, beforeTurn });
  const loop = (name: string, run: () => unknown): Case => ({ ...life(name), kind: "loop", run });
  return [
    loop(OURS, () => verifySync(ours, request)),
    loop(STANDARD, () => standard.verify(request.body, request.headers)),
    loop(STANDARD_UNPARSED, () => standard.verify(request.body, request.headers, { jsonParse: false })),
    loop(SVIX, () => svix.verify(request.body, request.headers)),
    bareCase(at(BARE, size), size, () => signed("v1", keys, body), keys.material),
    loop(OURS_V1A, () => verifySync(oursV1a, requestV1a)),
    { ...life(OURS_ASYNC), kind: "load", callers: 1, call: () => verify(ours, request) },
  ];
}

/** The floor: the cryptography alone, with nothing read, checked or returned. No receiver could use it. */
function bareCase(name: string, group: Size, sign: () => BenchRequest, key: Buffer): Case {
  const { body } = sign();
  let prefix = "";
  let signature = "";
  return {
    kind: "loop",
    name,
    group,
    beforeTurn() {
      const { headers } = sign();
      prefix = prefixOf(headers);
      signature = headers["webhook-signature"].slice("v1,".length);
    },
    run: () =>
      timingSafeEqual(
        createHmac("sha256", key).update(prefix).update(body).digest(),
        Buffer.from(signature, "base64"),
      ),
  };
}

function compare(other: string, size: Size, goal?: Goal): Ratio {
  const ratio = { name: `${OURS} / ${other}, ${size}`, of: at(OURS, size), to: at(other, size) };
  return goal === undefined ? ratio : { ...ratio, goal };
}

function at(name: string, size: Size): string {
  return `${name}, ${size}`;
}
