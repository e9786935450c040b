import { defineConfig } from "vite";

export default defineConfig({
  // Relative, so that the server can put the whole of it under a proxy's prefix.
  base: "./",
  build: {
    outDir: "../server/dist/dashboard",
    emptyOutDir: true,
    // What is inlined becomes `data:`, which the content security policy refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    target: ["chrome123", "firefox121", "safari17.5"],
  },
});
