/** Asks a candidate for its version, and whether it can be a language server. */
import type { Probe } from "./locate";
import { run } from "./processes";

const PATIENCE = 30_000;

export const probe: Probe = async (candidate) => {
  const ended = await run(candidate.command, [...candidate.args, "version", "--verbose"], { timeout: PATIENCE });
  return ended.code === 0 ? understood(ended.stdout) : { problem: lastLine(ended.stderr) || "no answer" };
};

/** Reads what `npulint version --verbose` prints. */
export function understood(text: string): { version: string } | { problem: string } {
  let answer: { npulint?: unknown; libraries?: Record<string, unknown> };
  try {
    answer = JSON.parse(text) as typeof answer;
  } catch {
    return { problem: "not npulint" };
  }
  if (typeof answer.npulint !== "string") {
    return { problem: "not npulint" };
  }
  if (typeof answer.libraries?.pygls !== "string" || !/\d/.test(answer.libraries.pygls)) {
    return { problem: "installed without pygls: pip install 'npulint[lsp]'" };
  }
  return { version: answer.npulint };
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1)?.trim() ?? "";
}
