import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import type { BuildResult } from "esbuild";
import type { Case } from "../case.js";
import { expectNone } from "../case.js";
import type { Consumer } from "../consumer.js";
import { bundleForWeb } from "../consumer.js";

const SOURCE =
  'import { verify, standardWebhooks } from "posthorn/verify";\nexport { verify, standardWebhooks };\n';
const MAX_GZIP_BYTES = 5120;

/** What the smallest useful import costs a browser or a worker. */
export const webBundleCases: readonly Case[] = [
  {
    topic: "web bundle",
    name: `is at most ${MAX_GZIP_BYTES} bytes, minified and gzipped`,
    run: async (consumer) => {
      const { text } = await bundle(consumer);
      const bytes = gzipSync(text, { level: 9 }).byteLength;
      if (bytes > MAX_GZIP_BYTES) throw new Error(`It has ${bytes} bytes.`);
      return `${bytes} bytes gzipped, ${Buffer.byteLength(text)} minified`;
    },
  },
  {
    topic: "web bundle",
    name: "holds neither Node, nor forensics, nor a provider, nor another package",
    run: async (consumer) => {
      const { text, modules } = await bundle(consumer);
      expectNone([...foreignModules(modules), ...foreignText(text, consumer)]);
      return `${modules.length} modules`;
    },
  },
  {
    topic: "web bundle",
    name: "can be made of every door that does not need Node",
    run: async (consumer) => {
      await bundleForWeb(consumer, "portable-doors.mjs", "portable-doors.web.mjs");
      return undefined;
    },
  },
];

async function bundle(consumer: Consumer): Promise<{ text: string; modules: string[] }> {
  const result = await build({
    stdin: { contents: SOURCE, resolveDir: consumer.folder },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    write: false,
    metafile: true,
    legalComments: "none",
    logLevel: "silent",
    absWorkingDir: consumer.folder,
  });
  const [output] = result.outputFiles;
  if (output === undefined) throw new Error("esbuild wrote no bundle.");
  return { text: output.text, modules: modulesOf(result) };
}

/** The modules of which anything is left after shaking. */
function modulesOf({ metafile }: BuildResult<{ metafile: true }>): string[] {
  return Object.values(metafile.outputs)
    .flatMap(({ inputs }) => Object.entries(inputs))
    .filter(([path, { bytesInOutput }]) => bytesInOutput > 0 && path !== "<stdin>")
    .map(([path]) => path);
}

function foreignModules(modules: readonly string[]): string[] {
  return modules
    .filter((path) => !path.startsWith("node_modules/posthorn/dist/") || isUnwanted(path))
    .map((path) => `The bundle holds ${path}.`);
}

function isUnwanted(path: string): boolean {
  return /forensic|diagnos|crypto-node|hmac-node/.test(path) || /\/schemes\/(?!standard\.js$)/.test(path);
}

/** Looks for what a module boundary would not show: a provider's header named inside a shared module. */
function foreignText(text: string, { vectors }: Consumer): string[] {
  const headersOf = (isStandard: boolean): Set<string> =>
    new Set(
      vectors
        .filter(({ scheme }) => (scheme === "standard_webhooks") === isStandard)
        .flatMap(({ request }) => Object.keys(request.headers).map((name) => name.toLowerCase())),
    );
  const standard = headersOf(true);
  const foreign = [...headersOf(false)].filter((name) => name.includes("-") && !standard.has(name));
  // Whole names: `x-signature` of one provider is a part of `svix-signature`, which is standard.
  const words = new Set(text.toLowerCase().split(/[^\w-]+/));
  return [
    ...["node:", "require("].filter((marker) => text.includes(marker)),
    ...foreign.filter((name) => words.has(name)),
  ].map((marker) => `The bundle contains the text "${marker}".`);
}
