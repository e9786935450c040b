#!/usr/bin/env node
import { runCli } from "./cli.js";

// After a stop that was cut off, or with a pipe that nobody reads, something may stay open for ever.
const LINGER_MS = 1000;

async function main(): Promise<void> {
  process.exitCode = await runCli(process.argv.slice(2));
  setTimeout(() => process.exit(), LINGER_MS).unref();
}

void main();
