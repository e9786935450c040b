import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Vector as VectorCase, VectorFile } from "../vectors/vector.js";
import { root } from "./places.js";

/** One case of spec/vectors/signature with the name of its scheme. */
export type Vector = VectorCase & { readonly scheme: string };

/** Every case of every file. None at all is an error: a lane that judges nothing would pass. */
export async function readVectors(): Promise<readonly Vector[]> {
  const folder = join(root, "spec/vectors/signature");
  const names = (await readdir(folder)).filter((name) => name.endsWith(".json")).toSorted();
  const files = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  const vectors = files
    .map((text) => JSON.parse(text) as VectorFile)
    .flatMap(({ scheme, cases }) => cases.map((vector) => ({ scheme, ...vector })));
  if (vectors.length === 0) throw new Error(`${folder} holds no vectors.`);
  return vectors;
}
