import { posix } from "node:path";
import { emptyNames, emptySuffix, namedFolders } from "./house-rules.js";

/** Files and folders whose name says nothing about the dataflow. */
export function checkNames(paths: Iterable<string>): string[] {
  return [...paths]
    .filter((path) => namedFolders.some((folder) => path.startsWith(folder)))
    .flatMap((path) => {
      const empty = path
        .split("/")
        .map(stem)
        .find((name) => emptyNames.has(name.toLowerCase()));
      if (empty !== undefined)
        return [`${path}:1: "${empty}" names no step of the dataflow; name it after the concept it holds.`];
      const suffix = emptySuffix.exec(stem(posix.basename(path)))?.[0];
      if (suffix === undefined) return [];
      return [`${path}:1: ends in "${suffix}"; name it after what it does, not after a layer.`];
    });
}

/** `outcome` of `outcome.test.ts`, `.ci` of `.ci`. */
function stem(segment: string): string {
  return segment.replace(/(?<=.)(\.(test|bench|d))?\.\w+$/, "");
}
