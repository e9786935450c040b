import type {
  Class,
  ClassElement,
  Function as FunctionDeclaration,
  Node,
  TSInterfaceDeclaration,
  TSTypeAliasDeclaration,
  VariableDeclaration,
} from "oxc-parser";
import type { SourceFile } from "../../test/architecture/source.js";
import { docBefore } from "./doc-comment.js";
import type { DocComment } from "./doc-comment.js";

/** A declaration as a reader needs it: what it is called by, without what it does inside. */
export interface Declaration {
  readonly name: string;
  readonly kind: "value" | "type";
  readonly code: string;
  readonly doc: DocComment | undefined;
}

/** What a file declares under a name; undefined where it declares nothing of the kind. */
export function declarationIn(file: SourceFile, name: string): Declaration | undefined {
  const found = file.program.body.filter((node) => namesOf(declaredBy(node)).includes(name));
  const [first] = found;
  if (first === undefined) return undefined;
  const nodes = found.map(declaredBy);
  // Overloads: the signature behind them is that of the implementation, which nobody can call.
  const shown = nodes.length > 1 ? nodes.filter(({ type }) => type === "TSDeclareFunction") : nodes;
  const isType = shown.every(
    ({ type }) => type === "TSInterfaceDeclaration" || type === "TSTypeAliasDeclaration",
  );
  return {
    name,
    kind: isType ? "type" : "value",
    code: withoutDirectives(shown.map((node) => codeOf(file, node)).join("\n")),
    doc: docBefore(file.text, file.comments, first.start),
  };
}

function declaredBy(node: Node): Node {
  return node.type === "ExportNamedDeclaration" && node.declaration !== null ? node.declaration : node;
}

function namesOf(node: Node): readonly string[] {
  if (node.type === "VariableDeclaration") {
    return node.declarations.flatMap(({ id }) => (id.type === "Identifier" ? [id.name] : []));
  }
  return isNamed(node) && node.id !== null ? [node.id.name] : [];
}

function isNamed(
  node: Node,
): node is FunctionDeclaration | Class | TSInterfaceDeclaration | TSTypeAliasDeclaration {
  return /^(FunctionDeclaration|TSDeclareFunction|ClassDeclaration|TS(Interface|TypeAlias)Declaration)$/.test(
    node.type,
  );
}

/** What is said to the linter says nothing to a reader. */
function withoutDirectives(code: string): string {
  return code.replaceAll(/^\s*\/\/ oxlint-disable.*\n/gm, "");
}

function codeOf(file: SourceFile, node: Node): string {
  const { text } = file;
  if (node.type === "FunctionDeclaration" && node.body !== null)
    return `${text.slice(node.start, node.body.start).trim()};`;
  if (node.type === "ClassDeclaration") return classCode(file, node);
  if (node.type === "VariableDeclaration") return constantCode(text, node);
  return text.slice(node.start, node.end);
}

const MOST_LINES = 12;

/** A constant's type where it names one; else what it is made of, unless that is long. */
function constantCode(text: string, { declarations: [first] }: VariableDeclaration): string {
  if (first?.id.type !== "Identifier") throw new Error("A reference lists constants by one name each.");
  const { name, typeAnnotation } = first.id;
  if (typeAnnotation) return `const ${name}${text.slice(typeAnnotation.start, typeAnnotation.end)};`;
  const made = text.slice(first.start, first.end);
  return made.split("\n").length > MOST_LINES ? `const ${name} = …;` : `const ${made};`;
}

function classCode({ text, comments }: SourceFile, node: Class): string {
  const head = text.slice(node.start, node.body.start).trim();
  const members = node.body.body.filter(isPublic).map((member) => {
    const comment = comments.find(
      ({ end }) => end <= member.start && text.slice(end, member.start).trim() === "",
    );
    const said = comment && text.slice(comment.start, comment.end);
    return [...(said === undefined ? [] : [said]), memberCode(text, member)]
      .map((line) => `  ${line}`)
      .join("\n");
  });
  return [`${head} {`, ...members, "}"].join("\n");
}

function isPublic(member: ClassElement): boolean {
  if (member.type !== "MethodDefinition" && member.type !== "PropertyDefinition") return false;
  return member.key.type !== "PrivateIdentifier" && member.accessibility !== "private";
}

function memberCode(text: string, member: ClassElement): string {
  if (member.type === "MethodDefinition" && member.value.body !== null) {
    return `${text.slice(member.start, member.value.body.start).trim()};`;
  }
  // A field without a type has its value's.
  if (member.type === "PropertyDefinition" && member.value !== null && member.typeAnnotation) {
    return `${text.slice(member.start, member.value.start).replace(/\s*=\s*$/, "")};`;
  }
  return text.slice(member.start, member.end);
}
