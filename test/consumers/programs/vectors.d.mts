// The lane writes vectors.mjs beside this file, into the temporary project.
import type { Vector } from "../vectors.js";

export declare const vectors: readonly Vector[];
