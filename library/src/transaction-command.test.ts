import { describe, expect, it } from "vitest";
import { transactionCommand } from "./transaction-command.js";

describe("transactionCommand", () => {
  it.each([
    ["begin", "begin"],
    ["BEGIN", "begin"],
    ["begin isolation level serializable", "begin"],
    ["begin immediate", "begin"],
    ["Start  Transaction read only", "start transaction"],
    ["commit", "commit"],
    ["commit;", "commit"],
    ["COMMIT AND CHAIN", "commit"],
    ["commit prepared 'x'", "commit"],
    ["end", "end"],
    ["END TRANSACTION", "end"],
    ["rollback", "rollback"],
    ["rollback work", "rollback"],
    ["rollback and no chain", "rollback"],
    ["rollback prepared 'x'", "rollback"],
    ["abort", "abort"],
    ["prepare transaction 'x'", "prepare transaction"],
    ["  \n\t commit", "commit"],
    ["-- a note\ncommit", "commit"],
    ["-- a note\rcommit", "commit"],
    ["/* begins /* nested */ here */ rollback", "rollback"],
    ["insert into t values (1); commit", "commit"],
    ["select 1; select 'it''s; fine'; rollback", "rollback"],
    [String.raw`select E'a\'b'; commit`, "commit"],
    [String.raw`select 'a\'; commit`, "commit"],
    ["select $$ text $$; begin", "begin"],
    ["select $a$ $$ ; $a$; begin", "begin"],
    ["do $$ begin null; end $$; commit", "commit"],
    ["create function f() returns int begin atomic select 1; select 2; end; commit", "commit"],
    ["create function f() returns int begin atomic end; commit", "commit"],
    ["create trigger t after insert on a begin delete from b; delete from c; end; commit", "commit"],
    [";;commit", "commit"],
    ['select "a;b"; abort', "abort"],
  ])("%j is %s", (text, command) => {
    expect(transactionCommand(text)).toBe(command);
  });

  it.each([
    "",
    "select 1",
    "savepoint a",
    "release savepoint a",
    "rollback to savepoint a",
    "rollback to a",
    "ROLLBACK WORK TO SAVEPOINT a",
    "rollback transaction to savepoint a",
    "prepare p as select 1",
    "select case when a then 1 else 2 end from t",
    "select '; commit'",
    "select 'it''s'';commit'",
    String.raw`select E'\'; commit'`,
    'select 1 as "; commit"',
    "select $$; commit; $$",
    "select $a$; commit; $b$ ; rollback; $a$",
    "-- ; commit\nselect 1",
    "/* ; commit /* ; rollback */ ; */ select 1",
    "do $$ begin perform 1; end $$",
    "create function f() returns int begin atomic select case when true then 1 end; select 2; end",
    "create or replace procedure p() language plpgsql as $f$ begin commit; end $f$",
    "create trigger t after insert on a begin delete from b; delete from c; end",
    "create table rollback_log (id int)",
    'insert into "commit" (id) values (1)',
    "update t set begin = 1",
    "select $1, end_at from t where start = $2",
    "with begin as (select 1) select * from begin",
    "select 'an unclosed text; commit",
    "select $open$ ; commit",
    "/* unclosed ; commit",
  ])("%j is none", (text) => {
    expect(transactionCommand(text)).toBeUndefined();
  });

  it("reads a text of megabytes", () => {
    const long = "x".repeat(3_000_000);
    expect(transactionCommand(`select '${long}' -- end`)).toBeUndefined();
    expect(transactionCommand(`select E'${long}', $$${long}$$; commit`)).toBe("commit");
  });
});
