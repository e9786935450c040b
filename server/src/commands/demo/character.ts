/** How one endpoint of the demo's town behaves. */
export interface Character {
  readonly name: string;
  readonly says: string;
  /** Pure: time and chance are arguments. */
  behave(request: DemoRequest): Behaviour;
}

export interface DemoRequest {
  /** Whose event it is: customers are keys, and keys are in order. */
  readonly customer: number;
  /** How many requests came before it. */
  readonly before: number;
  /** From 0 up to 1. */
  readonly chance: number;
}

/** A status after some time, or no answer at all. */
export type Behaviour = { readonly status: number; readonly afterMs: number } | "silence";

export const POISONED_CUSTOMER = 13;
const GONE_AFTER = 40;

/** The town: each of them is a kind of receiver that senders meet. */
export const TOWN: readonly Character[] = [
  { name: "bakery", says: "healthy", behave: () => ({ status: 200, afterMs: 5 }) },
  { name: "library", says: "slow", behave: ({ chance }) => ({ status: 200, afterMs: 300 + chance * 900 }) },
  {
    name: "market",
    says: "500 three times in ten",
    behave: ({ chance }) => ({ status: chance < 0.3 ? 500 : 200, afterMs: 20 }),
  },
  {
    name: "ferry",
    says: "sometimes does not answer",
    behave: ({ chance }) => (chance < 0.05 ? "silence" : { status: 202, afterMs: 40 }),
  },
  {
    name: "circus",
    says: "leaves town: 410",
    behave: ({ before }) => ({ status: before < GONE_AFTER ? 200 : 410, afterMs: 10 }),
  },
  {
    name: "pharmacy",
    says: `chokes on customer ${POISONED_CUSTOMER}`,
    behave: ({ customer }) => ({ status: customer === POISONED_CUSTOMER ? 500 : 200, afterMs: 10 }),
  },
];
