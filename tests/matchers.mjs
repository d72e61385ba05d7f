// Applies problem matchers to the lines of a log as their owners do, and prints what they find.
// Input: {"github": {...}, "vscode": {...}, "lines": [...]}; output: {"github": [...], "vscode": [...], "slowest": ms}.
import { readFileSync } from "node:fs";

const { github, vscode, lines } = JSON.parse(readFileSync(0, "utf8"));
const ISSUES = new Set(["error", "warning", "notice"]);
const seen = { github: [], vscode: [], slowest: 0 };

function timed(pattern, line) {
  let found, taken = Infinity;
  for (let tries = 0; tries < 3 && taken > 50; tries++) { // a pause of the machine does not come three times
    const begun = performance.now();
    found = new RegExp(pattern.regexp).exec(line);
    taken = Math.min(taken, performance.now() - begun);
  }
  seen.slowest = Math.max(seen.slowest, taken);
  return found;
}

// The runner adds each matcher before those it knows, and the first that gives an issue ends the search for a line.
const matchers = [...github.problemMatcher].reverse();
for (const line of lines) {
  for (const matcher of matchers) {
    const pattern = matcher.pattern[0];
    const found = timed(pattern, line);
    const severity = (found && found[pattern.severity]) || matcher.severity || "error";
    if (found && ISSUES.has(severity.toLowerCase()) && found[pattern.message].trim()) {
      const { file, line: row, column, message, code } = pattern;
      seen.github.push([found[file], +found[row], +found[column], severity, found[message], found[code]]);
      break;
    }
  }
}

// Visual Studio Code trims what it captures; error, warning, info and their like it knows, of a note it makes an info.
const LEVELS = { error: "error", warning: "warning", warn: "warning", info: "info", note: "info", hint: "info" };
for (const line of lines) {
  const pattern = vscode.pattern;
  const found = timed(pattern, line);
  if (found && found[pattern.file].trim() && found[pattern.message].trim()) {
    const level = LEVELS[found[pattern.severity].toLowerCase()] ?? vscode.severity ?? "error";
    const [file, message, code] = [pattern.file, pattern.message, pattern.code].map((group) => found[group].trim());
    seen.vscode.push([file, +found[pattern.line], +found[pattern.column], level, message, code]);
  }
}
process.stdout.write(JSON.stringify(seen));
