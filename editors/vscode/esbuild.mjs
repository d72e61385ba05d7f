// Bundles the extension into dist/extension.js; with --tests the unit tests into out/test instead.
import { readdirSync, rmSync } from "node:fs";
import { build } from "esbuild";

const common = { bundle: true, platform: "node", format: "cjs", target: "node18", logLevel: "warning" };

if (process.argv.includes("--tests")) {
  const entryPoints = readdirSync("test")
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => `test/${name}`);
  rmSync("out", { recursive: true, force: true });
  await build({ ...common, entryPoints, outdir: "out/test", sourcemap: "inline" });
} else {
  await build({
    ...common,
    entryPoints: ["src/extension.ts"],
    outfile: "dist/extension.js",
    external: ["vscode"],
    minify: true,
  });
}
