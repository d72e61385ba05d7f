import assert from "node:assert/strict";
import { test } from "node:test";
import { type Candidate, candidates, locate, type Places } from "../src/locate";

const SCRIPT = "/extension/bundled/run.py";

function places(files: string[], given: Partial<Places> = {}): Places {
  return {
    setting: "",
    interpreter: undefined,
    folders: ["/home/me/project"],
    trusted: true,
    bundled: SCRIPT,
    searchPath: "/usr/local/bin:/usr/bin",
    windows: false,
    exists: (file) => files.includes(file),
    ...given,
  };
}

function words(some: Candidate[]): string[] {
  return some.map(({ origin, command, args }) => [origin, command, ...args].join(" "));
}

test("the selected interpreter, .venv, PATH and the bundled npulint are tried in this order", () => {
  const files = ["/home/me/project/.venv/bin/python", "/usr/bin/npulint", "/usr/bin/python3"];
  assert.deepEqual(words(candidates(places(files, { interpreter: "/env/bin/python" }))), [
    "interpreter /env/bin/python -I -m npulint",
    "venv /home/me/project/.venv/bin/python -I -m npulint",
    "path /usr/bin/npulint",
    `bundled /env/bin/python -I ${SCRIPT}`,
    `bundled /home/me/project/.venv/bin/python -I ${SCRIPT}`,
    `bundled /usr/bin/python3 -I ${SCRIPT}`,
  ]);
});

test("the setting is the only candidate, a program or an interpreter", () => {
  const files = ["/usr/bin/npulint"];
  assert.deepEqual(words(candidates(places(files, { setting: "/opt/npulint" }))), ["setting /opt/npulint"]);
  assert.deepEqual(words(candidates(places(files, { setting: "/opt/bin/python3.12" }))), [
    "setting /opt/bin/python3.12 -I -m npulint",
  ]);
});

test("nothing that the workspace decides is run before it is trusted", () => {
  const files = ["/home/me/project/.venv/bin/python", "/home/me/project/bin/npulint", "/home/me/project/bin/python3"];
  const found = candidates(
    places([...files, "/usr/bin/npulint"], {
      trusted: false,
      interpreter: "/home/me/project/.venv/bin/python",
      searchPath: "/home/me/project/bin:/usr/bin",
    }),
  );
  assert.deepEqual(words(found), ["path /usr/bin/npulint"]);
});

test("folders beside the workspace whose names begin alike are not inside it", () => {
  const files = ["/home/me/project-tools/npulint"];
  const found = candidates(places(files, { trusted: false, searchPath: "/home/me/project-tools" }));
  assert.deepEqual(words(found), ["path /home/me/project-tools/npulint"]);
});

test("relative entries of PATH and a missing bundle are ignored", () => {
  const found = candidates(places(["bin/npulint", "/usr/bin/python3"], { searchPath: "bin::.:/usr/bin", bundled: undefined }));
  assert.deepEqual(words(found), []);
});

test("an interpreter that is selected and in .venv is tried once", () => {
  const python = "/home/me/project/.venv/bin/python";
  const found = candidates(places([python], { interpreter: python }));
  assert.deepEqual(words(found), [`interpreter ${python} -I -m npulint`, `bundled ${python} -I ${SCRIPT}`]);
});

test("the first that works is used, and what was refused is told with the reason", async () => {
  const seen: string[] = [];
  const search = await locate(places(["/usr/bin/npulint", "/usr/bin/python3"]), (candidate) => {
    seen.push(candidate.origin);
    return Promise.resolve(candidate.origin === "bundled" ? { version: "1.2.3" } : { problem: "without pygls" });
  });
  assert.deepEqual(seen, ["path", "bundled"]);
  assert.equal(search.found?.version, "1.2.3");
  assert.deepEqual(
    search.refused.map(({ candidate, problem }) => [candidate.command, problem]),
    [["/usr/bin/npulint", "without pygls"]],
  );
});

test("a setting that does not work starts no other npulint", async () => {
  const search = await locate(places(["/usr/bin/npulint"], { setting: "/opt/npulimt" }), () =>
    Promise.resolve({ problem: "no such file" }),
  );
  assert.equal(search.found, undefined);
  assert.equal(search.refused.length, 1);
});
