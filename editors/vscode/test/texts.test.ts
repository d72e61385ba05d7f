import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { mentioned } from "../src/mentioned";
import { understood } from "../src/probe";
import { type Translate, verdict } from "../src/verdict";

type Texts = Record<string, string>;

function json(file: string): unknown {
  return JSON.parse(readFileSync(file, "utf8"));
}

const plain: Translate = (text, ...values) => text.replace(/\{(\d)\}/g, (_, index: string) => String(values[Number(index)]));

test("the status bar shows the number of errors and warnings once there was a check", () => {
  const counts = { errors: 2, warnings: 3 };
  assert.equal(verdict("ready", counts, plain).text, "npulint $(error) 2 $(warning) 3");
  assert.equal(verdict("ready", counts, plain).tooltip, "Errors: 2, warnings: 3");
  assert.equal(verdict("ready", counts, plain).level, "warning");
  assert.equal(verdict("ready", { errors: 0, warnings: 1 }, plain).level, "plain");
  assert.equal(verdict("ready", { errors: 0, warnings: 0 }, plain).text, "$(pass) npulint");
  for (const state of ["starting", "checking", "failed", "missing", "off"] as const) {
    assert.ok(!verdict(state, counts, plain).text.includes("2"), state);
  }
});

test("a code is recognized anywhere, a name in a comment of npulint", () => {
  const line = "x = 1  # npulint: ignore=native-dropout, cuda-left-over  NPU21K3";
  assert.equal(mentioned(line, line.indexOf("native") + 3), "native-dropout");
  assert.equal(mentioned(line, line.indexOf("cuda")), "cuda-left-over");
  assert.equal(mentioned(line, line.length), "NPU21K3");
  assert.equal(mentioned(line, 2), undefined);
  assert.equal(mentioned("native-dropout", 3), undefined);
});

test("what does not answer like npulint is refused", () => {
  const answer = { npulint: "0.1.0", libraries: { pygls: "2.1.1" } };
  assert.deepEqual(understood(JSON.stringify(answer)), { version: "0.1.0" });
  assert.ok("problem" in understood(JSON.stringify({ ...answer, libraries: { pygls: "" } })));
  assert.ok("problem" in understood("{}"));
  assert.ok("problem" in understood("npulint 0.1.0"));
});

test("every text is there in both languages, and none is left over", () => {
  const english = json("package.nls.json") as Texts;
  const chinese = json("package.nls.zh-cn.json") as Texts;
  const used = new Set(Array.from(readFileSync("package.json", "utf8").matchAll(/"%(.+?)%"/g), (match) => match[1]));
  assert.deepEqual(Object.keys(chinese), Object.keys(english));
  assert.deepEqual([...used].sort(), Object.keys(english).sort());

  const source = readdirSync("src").map((name) => readFileSync(`src/${name}`, "utf8"));
  const said = new Set(Array.from(source.join("\n").matchAll(/\bt\(\s*"(.+?)"/g), (match) => match[1] ?? ""));
  const translated = json("l10n/bundle.l10n.zh-cn.json") as Texts;
  assert.deepEqual(Object.keys(translated).sort(), [...said].sort());
  for (const [text, translation] of Object.entries(translated)) {
    assert.deepEqual(translation.match(/\{\d\}/g), text.match(/\{\d\}/g), text);
  }
});

test("settings for paths and arguments are ignored in workspaces that are not trusted", () => {
  interface Manifest {
    capabilities: { untrustedWorkspaces: { restrictedConfigurations: string[] } };
    contributes: { configuration: { properties: Record<string, unknown> } };
  }
  const { capabilities, contributes } = json("package.json") as Manifest;
  const restricted = capabilities.untrustedWorkspaces.restrictedConfigurations;
  assert.deepEqual([...restricted].sort(), ["args", "baseline", "checks", "config", "path"].map((name) => `npulint.${name}`));
  assert.ok(restricted.every((name) => name in contributes.configuration.properties));
});
