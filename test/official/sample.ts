// A case is made of parts, signed by code of its own, and changed before or after that. Each change is a value, so
// that a disagreement can be reduced to the changes that cause it.

/** What a sender signs. */
export interface Parts {
  readonly secret: string;
  readonly id: string;
  /** As it stands in its header. */
  readonly time: string;
  readonly body: Buffer;
  readonly url: string;
  readonly method: string;
}

/** What a receiver gets, and the secret it was told. */
export interface Sample {
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly url: string;
  readonly method: string;
}

export type Change =
  | { readonly name: string; readonly when: "before"; readonly apply: (parts: Parts) => Parts }
  | { readonly name: string; readonly when: "after"; readonly apply: (sample: Sample) => Sample };

export function before(name: string, apply: (parts: Parts) => Parts): Change {
  return { name, when: "before", apply };
}

export function after(name: string, apply: (sample: Sample) => Sample): Change {
  return { name, when: "after", apply };
}

export function changeHeader(name: string, header: string, apply: (value: string) => string): Change {
  return after(`${header} ${name}`, (sample) => {
    const value = sample.headers[header];
    return value === undefined
      ? sample
      : { ...sample, headers: { ...sample.headers, [header]: apply(value) } };
  });
}

export function removeHeader(header: string): Change {
  return after(`${header} removed`, (sample) => {
    const { [header]: _removed, ...headers } = sample.headers;
    return { ...sample, headers };
  });
}

export function buildSample(
  parts: Parts,
  changes: readonly Change[],
  sign: (parts: Parts) => Pick<Sample, "headers"> & Partial<Sample>,
): Sample {
  let signed = parts;
  for (const change of changes) if (change.when === "before") signed = change.apply(signed);
  const { secret, body, url, method } = signed;
  let sample: Sample = { secret, body, url, method, ...sign(signed) };
  for (const change of changes) if (change.when === "after") sample = change.apply(sample);
  return sample;
}
