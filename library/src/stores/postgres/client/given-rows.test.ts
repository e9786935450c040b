import { expect, it } from "vitest";
import { booleans, givenRows, numbers, texts } from "./given-rows.js";

interface Order {
  readonly id: bigint;
  readonly key: string | undefined;
  readonly paid: boolean;
}

const orders = givenRows<Order>({
  id: numbers("int8", ({ id }) => id),
  key: texts(({ key }) => key),
  paid: booleans(({ paid }) => paid),
});

it("rows are given as an array for each column, and are numbered", () => {
  expect(orders.table("given")).toBe(
    "unnest($1::int8[], $2::text[], $3::bool[]) with ordinality as given (id, key, paid, n)",
  );
  expect(orders.table("more", 5)).toContain("unnest($5::int8[], $6::text[], $7::bool[])");
  expect(orders.size).toBe(3);
  expect(
    orders.params([
      { id: 9007199254740993n, key: "k", paid: true },
      { id: 2n, key: undefined, paid: false },
    ]),
  ).toEqual(["{9007199254740993,2}", '{"k",NULL}', "{t,f}"]);
});

it("bytes travel as one string, and are cut out of it for each row", () => {
  const bodies = givenRows<Uint8Array | undefined>({}, { body: (bytes) => bytes });
  expect(bodies.table("given", 3)).toBe(
    "(select substring($5::bytea from body_start for body_length) as body, n " +
      "from unnest($3::int4[], $4::int4[]) with ordinality as given_rows (body_start, body_length, n)) as given",
  );
  expect(bodies.size).toBe(3);
  const [starts, lengths, all] = bodies.params([new Uint8Array([1, 2]), undefined, new Uint8Array([3])]);
  expect([starts, lengths, all]).toEqual(["{1,3,3}", "{2,NULL,1}", new Uint8Array([1, 2, 3])]);
});
