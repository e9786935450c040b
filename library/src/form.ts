// URLSearchParams puts U+FFFD in place of bytes that are no UTF-8, so that many bodies mean one form.
// This reader takes what decodes exactly, and nothing else.

// A byte order mark would vanish otherwise, and a form that was not signed would pass for the one that was.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The fields of a form in the order in which they were sent; names may repeat. */
export type Form = readonly (readonly [name: string, value: string])[];

/** Reads `application/x-www-form-urlencoded`; undefined when the body is not valid UTF-8 or not validly escaped. */
export function parseForm(body: Uint8Array): Form | undefined {
  try {
    const pairs = decoder.decode(body).split("&");
    return pairs.filter((pair) => pair !== "").map(parsePair);
  } catch {
    // Not a form: an expected state of a body, told by undefined.
    return undefined;
  }
}

/** The first field of a name; undefined when there is none, or no form. */
export function formField(form: Form | undefined, name: string): string | undefined {
  return form?.find(([candidate]) => candidate === name)?.[1];
}

function parsePair(pair: string): readonly [string, string] {
  const mark = pair.indexOf("=");
  const end = mark < 0 ? pair.length : mark;
  return [unescape(pair.slice(0, end)), unescape(pair.slice(end + 1))];
}

function unescape(text: string): string {
  return decodeURIComponent(text.replaceAll("+", " "));
}
