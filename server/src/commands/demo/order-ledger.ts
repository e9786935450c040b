/** What one endpoint of the town has taken, and whether it came in order. */
export class OrderLedger {
  readonly #last = new Map<number, number>();
  #taken = 0;
  #repeated = 0;
  #outOfOrder = 0;

  /** Notes that event `number` of a customer was taken. */
  take(customer: number, number: number): void {
    const last = this.#last.get(customer) ?? 0;
    // At least once: the same again is no fault; an earlier one after a later one is.
    if (number === last) this.#repeated++;
    else if (number < last) this.#outOfOrder++;
    else {
      this.#taken++;
      this.#last.set(customer, number);
    }
  }

  report(): { readonly taken: number; readonly repeated: number; readonly outOfOrder: number } {
    return { taken: this.#taken, repeated: this.#repeated, outOfOrder: this.#outOfOrder };
  }
}
