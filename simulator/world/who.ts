/** Who did something: a node, in one of its lives. */
export interface Who {
  readonly node: number;
  readonly life: number;
}
