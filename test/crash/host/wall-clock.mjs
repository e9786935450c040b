// The wall clock of this process, which can be set to another time while it runs. The monotonic clock stays as it is,
// as it does where an operator or NTP sets a clock.

const RealDate = Date;
let shiftMs = 0;

class ShiftedDate extends RealDate {
  /** @param {[]} given */
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + shiftMs);
    else super(...given);
  }

  /** @override */
  static now() {
    return RealDate.now() + shiftMs;
  }
}

/** Sets the clock so far from the right time. @param {number} ms */
export function shiftClock(ms) {
  shiftMs = ms;
  Object.assign(globalThis, { Date: ShiftedDate });
}
