import { createHmac, createSign, generateKeyPairSync } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concat, utf8 } from "../../bytes.js";
import * as node from "./crypto-node.js";
import * as web from "./crypto-web.js";
import { hmac } from "./hmac-node.js";
import { joinEcdsa } from "../encoding/ecdsa-der.js";
import { Key } from "../keys/key.js";
import type { Question } from "./question.js";

const CONTENT = ["evt_1.1794770453.", utf8('{"type":"a"}')] as const;
const JOINED = concat(CONTENT);

async function bothAnswers(question: Question): Promise<readonly number[]> {
  return [node.answerSync(question), await node.answer(question), await web.answer(question)];
}

function spki(pair: { publicKey: { export(options: object): unknown } }): Uint8Array<ArrayBuffer> {
  return new Uint8Array(pair.publicKey.export({ format: "der", type: "spki" }) as Buffer);
}

/** DER of two integers as they stand. */
function integers(r: Uint8Array, s: Uint8Array): Uint8Array {
  return concat([
    Uint8Array.of(0x30, r.length + s.length + 4, 2, r.length),
    r,
    Uint8Array.of(2, s.length),
    s,
  ]);
}

function bare(integer: Uint8Array): Uint8Array {
  return integer[0] === 0 ? integer.subarray(1) : integer;
}

describe("an HMAC", () => {
  it("is that of node:crypto for every length of key and content", () => {
    const length = fc.oneof(fc.nat(300), fc.integer({ min: 16_200, max: 16_500 }));
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 150 }),
        fc.string({ unit: fc.constantFrom(...Array.from("aé\u{1f4ef}\ud800")), maxLength: 40 }),
        length,
        fc.constantFrom("sha1", "sha256"),
        (material, text, bodyLength, hash) => {
          const key = new Key(`hmac_${hash}` as "hmac_sha1", "k", material);
          const body = new Uint8Array(bodyLength).fill(bodyLength % 251);
          const expected = createHmac(hash, material).update(text).update(body).digest();
          expect(Buffer.compare(hmac(key, [text, body]), expected)).toBe(0);
          // The second time the pads come from memory.
          expect(Buffer.compare(hmac(key, [text, body]), expected)).toBe(0);
        },
      ),
    );
  });

  it("belongs to its caller: the next one does not change it", () => {
    const key = new Key("hmac_sha256", "k", utf8("secret"));
    const first = hmac(key, ["a"]);
    const copy = first.slice();
    hmac(key, ["b"]);
    expect(first).toEqual(copy);
  });
});

describe("node:crypto and WebCrypto", () => {
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const p256 = generateKeyPairSync("ec", { namedCurve: "P-256" });

  it.each(["hmac_sha256", "hmac_sha1"] as const)("make and recognise the same %s", async (algorithm) => {
    const key = new Key(algorithm, "k", utf8("a secret of some length"));
    const signature = node.produceSync(key, CONTENT);
    expect(new Uint8Array(await web.produce(key, CONTENT))).toEqual(new Uint8Array(signature));
    const junk = signature.map((byte) => byte ^ 1);
    expect(await bothAnswers({ key, content: CONTENT, signatures: [junk, signature] })).toEqual([1, 1, 1]);
    const longer = concat([signature, new Uint8Array(1)]);
    const wrong = [junk, longer, signature.slice(0, -1), new Uint8Array()];
    expect(await bothAnswers({ key, content: CONTENT, signatures: wrong })).toEqual([-1, -1, -1]);
    expect(await bothAnswers({ key, content: CONTENT, signatures: [] })).toEqual([-1, -1, -1]);
  });

  it("make and recognise the same Ed25519 signature, with keys that either of them made", async () => {
    for (const side of [node, web]) {
      const { seed, publicKey } = await side.generateEd25519();
      const signing = new Key("ed25519_private", "k", new Uint8Array(seed));
      const signature = node.produceSync(signing, CONTENT);
      expect(new Uint8Array(await web.produce(signing, CONTENT))).toEqual(new Uint8Array(signature));
      const key = new Key("ed25519", "k", new Uint8Array(publicKey));
      const junk = signature.map((byte, index) => (index === 40 ? byte ^ 1 : byte));
      expect(await bothAnswers({ key, content: CONTENT, signatures: [junk, signature] })).toEqual([1, 1, 1]);
      const short = [signature.slice(1), new Uint8Array(64)];
      expect(await bothAnswers({ key, content: CONTENT, signatures: short })).toEqual([-1, -1, -1]);
      // A signing key checks nothing, so a mix-up cannot pass.
      expect(await bothAnswers({ key: signing, content: CONTENT, signatures: [signature] })).toEqual([
        -1, -1, -1,
      ]);
    }
  });

  it("recognise the same RSA signature", async () => {
    const key = new Key("rsa_sha256", "k", spki(rsa));
    const signature = createSign("sha256").update(JOINED).sign(rsa.privateKey);
    const signatures = [signature.map((byte) => byte ^ 1), signature.subarray(1), signature];
    expect(await bothAnswers({ key, content: CONTENT, signatures })).toEqual([2, 2, 2]);
  });

  it("recognise the same ECDSA signatures, whatever the length of r and s", async () => {
    const key = new Key("ecdsa_p256_sha256", "k", spki(p256));
    // One in 128 has a short r or s; this many meet several.
    for (let round = 0; round < 600; round++) {
      const content = [`round ${round}`];
      const signature = createSign("sha256").update(content.join("")).sign(p256.privateKey);
      const joined = joinEcdsa(signature) ?? new Uint8Array();
      expect(await bothAnswers({ key, content, signatures: [joined] })).toEqual([0, 0, 0]);
    }
  });

  it("refuse the same odd encodings of a right ECDSA signature", async () => {
    const key = new Key("ecdsa_p256_sha256", "k", spki(p256));
    const der = createSign("sha256").update(JOINED).sign(p256.privateKey);
    const rLength = der[3] ?? 0;
    const r = der.subarray(4, 4 + rLength);
    const s = der.subarray(6 + rLength);
    const right = joinEcdsa(integers(r, s)) ?? new Uint8Array();
    expect(await bothAnswers({ key, content: CONTENT, signatures: [right] })).toEqual([0, 0, 0]);
    const zero = new Uint8Array(1);
    const odd = [
      integers(concat([zero, zero, r]), s),
      integers(r[0] === 0 ? r.subarray(1) : concat([zero, r]), s),
      integers(r, s[0] === 0 ? s.subarray(1) : concat([zero, s])),
      concat([bare(r), bare(s)]),
      concat([der, zero]),
      der.subarray(0, -1),
      integers(new Uint8Array(), s),
      integers(zero, zero),
      new Uint8Array(),
      Uint8Array.of(0x30),
      Uint8Array.of(0x30, 0),
    ];
    for (const [index, encoded] of odd.entries()) {
      const signature = joinEcdsa(encoded) ?? new Uint8Array(64);
      expect([index, ...(await bothAnswers({ key, content: CONTENT, signatures: [signature] }))]).toEqual([
        index,
        -1,
        -1,
        -1,
      ]);
    }
  });

  it("compare a plain token whole", async () => {
    const key = new Key("plain_token", "k", utf8("token"));
    const signatures = [utf8("toke"), utf8("token "), new Uint8Array(), utf8("token")];
    expect(await bothAnswers({ key, content: [], signatures })).toEqual([3, 3, 3]);
  });

  it("reject, never throw at once, when a key cannot be parsed", async () => {
    for (const algorithm of ["rsa_sha256", "ecdsa_p256_sha256"] as const) {
      const question = {
        key: new Key(algorithm, "k", utf8("no key")),
        content: CONTENT,
        signatures: [new Uint8Array(9)],
      };
      await expect(node.answer(question)).rejects.toThrow();
    }
  });

  it("differ in one thing: WebCrypto cannot answer at once", () => {
    const key = new Key("hmac_sha256", "k", utf8("secret"));
    const unavailable = expect.objectContaining({ code: "sync_unavailable" }) as Error;
    expect(() => web.answerSync({ key, content: CONTENT, signatures: [] })).toThrow(unavailable);
    expect(() => web.produceSync(key, CONTENT)).toThrow(unavailable);
  });
});
