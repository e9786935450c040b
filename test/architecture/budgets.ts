import type { Node } from "oxc-parser";
import { budgetExempt, budgets } from "./house-rules.js";
import type { SourceFile } from "./source.js";
import { lineAt, violation, walk } from "./source.js";

/** One function with its size; `named` is false for callbacks, whose shortness would flatter the median. */
interface Measured {
  readonly file: SourceFile;
  readonly node: Node;
  readonly lines: number;
  readonly parameters: number;
  readonly named: boolean;
}

export interface Sizes {
  readonly fileMedian: number;
  readonly functionMedian: number;
}

export function measureSizes(files: readonly SourceFile[]): Sizes {
  const counted = files.filter(({ path }) => !budgetExempt.test(path));
  const named = counted.flatMap(functionsOf).filter((each) => each.named);
  return {
    fileMedian: median(counted.map(linesOf)),
    functionMedian: median(named.map((each) => each.lines)),
  };
}

export function checkBudgets(files: readonly SourceFile[]): string[] {
  const counted = files.filter(({ path }) => !budgetExempt.test(path));
  return [...counted.flatMap(checkFile), ...counted.flatMap(functionsOf).flatMap(checkFunction)];
}

export function checkMedians({ fileMedian, functionMedian }: Sizes): string[] {
  const { fileLines, functionLines } = budgets;
  return [
    ...(fileMedian > fileLines.median
      ? [
          `the median file has ${fileMedian} lines of ${fileLines.median}; split the files that do two things.`,
        ]
      : []),
    ...(functionMedian > functionLines.median
      ? [
          `the median function has ${functionMedian} lines of ${functionLines.median}; name the steps of long ones.`,
        ]
      : []),
  ];
}

function checkFile(file: SourceFile): string[] {
  const lines = linesOf(file);
  const { hard } = budgets.fileLines;
  return lines > hard ? [violation(file, 0, `has ${lines} lines of ${hard}; split it by concept.`)] : [];
}

function checkFunction({ file, node, lines, parameters }: Measured): string[] {
  const { hard } = budgets.functionLines;
  return [
    ...(lines > hard
      ? [violation(file, node.start, `a function of ${lines} lines of ${hard}; name its steps.`)]
      : []),
    ...(parameters > budgets.parameters
      ? [violation(file, node.start, `${parameters} parameters of ${budgets.parameters}; pass an object.`)]
      : []),
  ];
}

function functionsOf(file: SourceFile): Measured[] {
  const found: Measured[] = [];
  walk(file.program, (node, parents) => {
    const parameters = parametersOf(node);
    if (parameters === undefined) return;
    const lines = lineAt(file.text, node.end) - lineAt(file.text, node.start) + 1;
    const named = node.type === "FunctionDeclaration" || isNaming(parents.at(-1));
    found.push({ file, node, lines, parameters, named });
  });
  return found;
}

function parametersOf(node: Node): number | undefined {
  const isFunction =
    node.type === "FunctionDeclaration" ||
    node.type === "FunctionExpression" ||
    node.type === "ArrowFunctionExpression";
  if (!isFunction || !node.body) return undefined;
  // A `this` parameter is a type; the caller passes nothing for it.
  return node.params.filter((each) => !(each.type === "Identifier" && each.name === "this")).length;
}

function isNaming(parent: Node | undefined): boolean {
  return /^(VariableDeclarator|MethodDefinition|PropertyDefinition|Property)$/.test(parent?.type ?? "");
}

function linesOf(file: SourceFile): number {
  return file.text.trimEnd().split("\n").length;
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? 0;
  return Number.isInteger(middle) ? (upper + (sorted[middle - 1] ?? 0)) / 2 : upper;
}
