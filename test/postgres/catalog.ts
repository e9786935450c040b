import type { TestPool } from "./drivers.js";

/** Prints a schema from the catalog: what is really there, however it was made, the same on every version. */
export async function printSchema(pool: TestPool, schema: string): Promise<string> {
  const rows = await pool.rows(`
    select relation.relname as name, relation.reloptions::text as options,
      (select string_agg(format('  %s %s%s%s', attname, format_type(atttypid, atttypmod),
          case when attcollation <> typcollation then ' collate "' || collname || '"' else '' end,
          case when attnotnull then ' not null' else '' end), E',\\n' order by attnum)
        from pg_attribute join pg_type on pg_type.oid = atttypid left join pg_collation on pg_collation.oid = attcollation
        where attrelid = relation.oid and attnum > 0 and not attisdropped) as columns,
      (select string_agg(format(E',\\n  constraint %s %s', conname, pg_get_constraintdef(oid)), '' order by conname)
        from pg_constraint where conrelid = relation.oid and contype <> 'n') as constraints,
      (select string_agg(pg_get_indexdef(indexrelid) || E';\\n', '' order by indexrelid::regclass::text)
        from pg_index where indrelid = relation.oid and not exists (
          select from pg_constraint where conindid = indexrelid)) as indexes,
      (select string_agg(format(E'-- trigger %s calls %s\\n', tgname, proname), '' order by tgname)
        from pg_trigger join pg_proc on pg_proc.oid = tgfoid
        where tgrelid = relation.oid and not tgisinternal) as triggers
    from pg_class as relation
    where relnamespace = '${schema}'::regnamespace and relkind = 'r' order by relname`);
  return rows.map((row) => printTable(schema, row)).join("\n");
}

function printTable(schema: string, row: Record<string, string>): string {
  const { name, columns, constraints, indexes, triggers, options } = row;
  const settings = options?.replaceAll(/^\{|\}$/g, "").replaceAll(",", ", ");
  const storage = settings === undefined ? "" : ` with (${settings})`;
  return `create table ${schema}.${name} (\n${columns}${constraints ?? ""}\n)${storage};\n${indexes ?? ""}${triggers ?? ""}`;
}
