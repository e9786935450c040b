import type { PrismaPg } from "@prisma/adapter-pg";
import { getPrismaClient } from "@prisma/client/runtime/client";
import type { PrismaDatabase, PrismaRaw } from "posthorn/orm";
import config from "./config.json" with { type: "json" };

// `prisma generate` wants to download an engine that it does not use, which this repository's machines cannot. What it writes
// for one model is recorded as data in config.json; the client that runs is Prisma's own, with its own query compiler.

// Without types of their own.
const COMPILER = "@prisma/client/runtime/query_compiler_fast_bg.postgresql";

interface PaidInvoices {
  create(args: { readonly data: { readonly id: string; readonly customer: string } }): Promise<unknown>;
}

interface Transaction extends PrismaRaw {
  readonly paidInvoice: PaidInvoices;
}

interface Client extends Transaction, PrismaDatabase<Transaction> {
  $connect(): Promise<void>;
  $disconnect(): Promise<void>;
}

export const PrismaClient = getPrismaClient({
  ...config,
  previewFeatures: [],
  activeProvider: "postgresql",
  compilerWasm: {
    getRuntime: () => import(`${COMPILER}.mjs`),
    async getQueryCompilerWasmModule() {
      const { wasm } = (await import(`${COMPILER}.wasm-base64.mjs`)) as { wasm: string };
      return new WebAssembly.Module(Buffer.from(wasm, "base64"));
    },
    importName: "./query_compiler_fast_bg.js",
  },
} as never) as unknown as new (options: { readonly adapter: PrismaPg }) => Client;
