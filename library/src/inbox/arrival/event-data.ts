import { parseForm } from "../../form.js";
import type { Form } from "../../form.js";
import { parseJson } from "../../json.js";

const FORM = /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i;
const encoder = new TextEncoder();

/**
 * The body of an event as its handler gets it: JSON, or the fields of a form where the request says that it is one. A form
 * whose only field is `payload`, as GitHub and Slack send, is the JSON in that field. Undefined when it is neither.
 *
 * @param headers - the kept headers, as JSON text.
 */
export function eventData(body: Uint8Array, headers: string): unknown {
  if (!FORM.test(contentTypeOf(headers))) return parseJson(body);
  const form = parseForm(body);
  if (form === undefined) return undefined;
  const [only] = form;
  const payload =
    form.length === 1 && only?.[0] === "payload" ? parseJson(encoder.encode(only[1])) : undefined;
  return payload ?? fieldsOf(form);
}

function contentTypeOf(headers: string): string {
  const type = (JSON.parse(headers) as Readonly<Record<string, unknown>>)["content-type"];
  return typeof type === "string" ? type : "";
}

/** A name that repeats has all its values. By entries: a field called `__proto__` must not become the prototype. */
function fieldsOf(form: Form): Readonly<Record<string, string | readonly string[]>> {
  const fields = new Map<string, string | readonly string[]>();
  for (const [name, value] of form) {
    const before = fields.get(name);
    fields.set(name, before === undefined ? value : [before, value].flat());
  }
  return Object.fromEntries(fields);
}
