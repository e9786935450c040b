import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";

export const repositoryRoot = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

/** Every file that git tracks or would track. Reads .gitignore itself: CI machines may have no git. */
export function listFiles(root: string): string[] {
  const ignored = ignoredBy(readFileSync(posix.join(root, ".gitignore"), "utf8"));
  const list = (folder: string): string[] =>
    readdirSync(posix.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = posix.join(folder, entry.name);
      if (entry.name === ".git" || ignored(entry.name, entry.isDirectory())) return [];
      if (entry.isDirectory()) return list(path);
      return entry.isFile() ? [path] : [];
    });
  return list("").toSorted();
}

/** Understands the shapes that our .gitignore uses (`name`, `folder/` and `*.ending`) and refuses any other. */
export function ignoredBy(gitignore: string): (name: string, isFolder: boolean) => boolean {
  const lines = gitignore.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const unknown = lines.find((line) => !/^([\w.-]+\/?|\*\.[\w.-]+)$/.test(line));
  if (unknown !== undefined)
    throw new Error(
      `.gitignore: "${unknown}" is no \`name\`, \`folder/\` or \`*.ending\`; teach project-files.ts its shape.`,
    );
  return (name, isFolder) =>
    lines.some((line) => {
      if (line.startsWith("*")) return name.endsWith(line.slice(1));
      return line.endsWith("/") ? isFolder && `${name}/` === line : name === line;
    });
}

export function readText(path: string): string {
  return readFileSync(posix.join(repositoryRoot, path), "utf8");
}
