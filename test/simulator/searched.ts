/** Where a bug is looked for: first where it was found last, then from the beginning. */
export interface Search {
  readonly from: number;
  readonly most: number;
  readonly finds: (seed: number) => Promise<boolean>;
}

/** The seed that finds a bug. Another one than the known is printed: `foundAt` of the bug is to be that. */
export async function searched(name: string, { from, most, finds }: Search): Promise<number | undefined> {
  if (await finds(from)) return from;
  for (let seed = 0; seed < most; seed++) {
    if (!(await finds(seed))) continue;
    console.log(`${name}: seed ${from} finds it no more, seed ${seed} does`);
    return seed;
  }
  console.log(`${name}: not found within ${most} seeds`);
  return undefined;
}
