/**
 * The state of a consumer at this moment: a pause whose end has passed is over, whether or not anybody has written that down.
 * It is `stateAt` of lanes/handler-consumer.ts, in SQL.
 */
export function stateNow(consumer: string): string {
  return `(case when ${consumer}.state = 'paused' and ${consumer}.paused_until <= clock_timestamp() then 'active'
        else ${consumer}.state end)`;
}
