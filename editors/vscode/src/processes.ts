/** Runs programs without a shell, so that no argument is interpreted. */
import { execFile } from "node:child_process";

/** What a finished program said. The code is undefined where it could not be started or was ended by a signal. */
export interface Finished {
  code: number | undefined;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  cwd?: string;
  signal?: AbortSignal;
  timeout?: number;
}

const MOST_BYTES = 256 * 1024 * 1024;

export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return new Promise((resolve) => {
    const limits = { maxBuffer: MOST_BYTES, windowsHide: true, encoding: "utf8" as const };
    execFile(command, [...args], { ...limits, ...options }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : undefined;
      resolve({ code, stdout, stderr: stderr || (error?.message ?? "") });
    });
  });
}
