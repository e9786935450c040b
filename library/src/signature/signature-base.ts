import { PosthornError } from "../posthorn-error.js";
import { needHeader } from "./headers/headers.js";
import type { Component, SignatureInput } from "./headers/structured-fields.js";
import type { SignedRequest, Verifier } from "./scheme.js";
import type { SignatureErrorCode } from "./signature-errors.js";
import { signedUrl } from "./signed-url.js";

/** What is signed by RFC 9421: a line for each covered component, then the components and parameters themselves. */
export function signatureBase(
  input: SignatureInput,
  request: SignedRequest,
  verifier: Pick<Verifier, "publicUrl">,
): string {
  const lines = input.components.map(({ name, parameters }) => {
    // A component with parameters is another one than the plain one; whoever ignores them checks something else.
    if (parameters !== "") throw unsupported(`"${name}"${parameters}`);
    return `"${name}": ${valueOf(name, request, verifier)}`;
  });
  refuseRepeated(input.components);
  return [...lines, `"@signature-params": ${input.text}`].join("\n");
}

function refuseRepeated(components: readonly Component[]): void {
  const names = components.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw unsupported(`"${twice}", twice`);
}

function valueOf(name: string, request: SignedRequest, verifier: Pick<Verifier, "publicUrl">): string {
  if (!name.startsWith("@")) {
    if (!/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) throw unsupported(`"${name}"`);
    return needHeader(request.headers, name).trim();
  }
  if (name === "@method") return request.method ?? "POST";
  const url = signedUrl(request, verifier);
  const { protocol, host } = new URL(url);
  // Not the parsed path: the sender signed its own spelling, and the parser writes another.
  const target = /^[a-z]+:\/\/[^/?#]*([^?#]*)(\?[^#]*)?/i.exec(url);
  switch (name) {
    case "@target-uri":
      return url;
    case "@authority":
      return host;
    case "@scheme":
      return protocol.slice(0, -1);
    case "@path":
      return target?.[1] || "/";
    case "@query":
      return target?.[2] ?? "?";
    default:
      throw unsupported(`"${name}"`);
  }
}

function unsupported(component: string): PosthornError<SignatureErrorCode> {
  return new PosthornError(
    "signature_unsupported",
    `The signature covers the component ${component.slice(0, 80)}, which is not supported here.`,
  );
}
