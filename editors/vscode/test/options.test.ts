import assert from "node:assert/strict";
import { test } from "node:test";
import {
  checkArguments,
  explainArguments,
  language,
  portArguments,
  reportArguments,
  rulesArguments,
  serverSettings,
} from "../src/options";
import { options } from "./support";

test("without settings the configuration file decides", () => {
  assert.deepEqual(checkArguments(options(), "en", "."), ["check", "--lang=en", "--fail-on=never", "."]);
});

test("every setting becomes an option", () => {
  const given = options({
    select: ["precision", "NPU21"],
    extendSelect: ["performance"],
    ignore: ["native-dropout"],
    target: { torch: "2.7", soc: "910B" },
    minSeverity: "error",
    minConfidence: "high",
    config: "ci/npulint.toml",
    checks: ["own", "others"],
    baseline: "accepted.json",
    docsUrl: "https://docs.example.com",
    args: ["--no-cache"],
  });
  assert.deepEqual(checkArguments(given, "zh", "."), [
    "check",
    "--select=precision,NPU21",
    "--extend-select=performance",
    "--ignore=native-dropout",
    "--checks=own",
    "--checks=others",
    "--target=torch=2.7",
    "--target=soc=910B",
    "--config=ci/npulint.toml",
    "--lang=zh",
    "--min-severity=error",
    "--min-confidence=high",
    "--baseline=accepted.json",
    "--docs-url=https://docs.example.com",
    "--fail-on=never",
    "--no-cache",
    ".",
  ]);
});

test("a plan takes what `npulint port` knows, and never writes", () => {
  const hostile = options({ select: ["--write"], minSeverity: "error", args: ["--commit"] });
  assert.deepEqual(portArguments(hostile, "en", "/p"), ["port", "--select=--write", "--lang=en", "--format=markdown", "/p"]);
});

test("a report is written to the file, and findings are no failure", () => {
  const args = reportArguments(options({ args: ["--verbose"] }), "en", "/p", "/tmp/r.html");
  assert.deepEqual(args, [
    "check",
    "--lang=en",
    "--verbose",
    "--output=html=/tmp/r.html",
    "--format=concise",
    "--exit-zero",
    "/p",
  ]);
});

test("pages and lists know the checks of the user", () => {
  const own = options({ checks: ["own"] });
  assert.deepEqual(explainArguments(own, "zh", "NPU1301"), ["explain", "--checks=own", "--lang=zh", "NPU1301"]);
  assert.deepEqual(rulesArguments(own, "en"), ["rules", "--checks=own", "--lang=en", "--format=json"]);
});

test("the language is that of the setting, else of the editor", () => {
  assert.equal(language(options(), "zh-cn"), "zh");
  assert.equal(language(options(), "en-us"), "en");
  assert.equal(language(options(), "fr"), "en");
  assert.equal(language(options({ lang: "en" }), "zh-cn"), "en");
});

test("the server is not sent what it does not know", () => {
  const sent = serverSettings(options({ ignore: ["native-dropout"], args: ["--no-cache"] }));
  assert.ok(!("args" in sent));
  assert.deepEqual(sent.ignore, ["native-dropout"]);
});
