import { isUtf8 } from "node:buffer";
import { depthOf, elements, ExactJson, members } from "posthorn/gateway";
import { problem } from "./problem.js";

/** Where the `data` of an event stands in the body of a request. */
interface DataPlace {
  /** Undefined where the body is the event itself. */
  readonly index: number | undefined;
  readonly data: Uint8Array;
}

// Many receivers' parsers recurse: deeper data would end their processes.
const DEEPEST = 512;
const NULL = Buffer.from("null");

/**
 * Reads one event or a list of them. `data` becomes the bytes that came: parsed and written again, large numbers would be
 * rounded and equal keys would collapse. `parse` reads everything else.
 */
export function readPublications(body: Buffer, parse: (json: string) => unknown): unknown {
  // Decoded with replacements, a broken text would be published as another one.
  if (!isUtf8(body)) throw problem("json_malformed", "The body is not UTF-8, which JSON is written in.");
  const places = placesIn(body);
  const rest = parse(without(body, places));
  for (const { index, data } of places) {
    const event = index === undefined ? rest : (rest as readonly unknown[])[index];
    (event as { data: unknown }).data = new ExactJson(data);
  }
  return rest;
}

function placesIn(body: Buffer): readonly DataPlace[] {
  const list = elements(body);
  const found = list === undefined ? [dataOf(body, undefined)] : list.map(dataOf);
  return found.filter((place) => place !== undefined);
}

function dataOf(event: Uint8Array, index: number | undefined): DataPlace | undefined {
  const known = new Set<string>();
  let data: Uint8Array | undefined;
  for (const { name, value } of members(event) ?? []) {
    // A proxy that checks the first of them would not see the one that is used.
    if (known.has(name)) throw twice(name, index);
    known.add(name);
    if (name !== "data") continue;
    if (depthOf(value) > DEEPEST) throw tooDeep(index);
    data = value;
  }
  return data && { index, data };
}

/** The body with each `data` replaced by null. */
function without(body: Buffer, places: readonly DataPlace[]): string {
  const kept: Uint8Array[] = [];
  let from = 0;
  for (const { data } of places) {
    // The slices are views of the body.
    const start = data.byteOffset - body.byteOffset;
    kept.push(body.subarray(from, start), NULL);
    from = start + data.length;
  }
  return Buffer.concat([...kept, body.subarray(from)]).toString("utf8");
}

function tooDeep(index: number | undefined): Error {
  return problem(
    "request_invalid",
    `\`data\` is nested deeper than ${DEEPEST} levels, which many receivers cannot read.`,
    {
      field: index === undefined ? "data" : `${index}.data`,
    },
  );
}

function twice(name: string, index: number | undefined): Error {
  const short = name.slice(0, 64);
  return problem(
    "request_invalid",
    `The field ${JSON.stringify(short)} stands twice in one event; once is expected.`,
    {
      field: index === undefined ? short : `${index}.${short}`,
    },
  );
}
