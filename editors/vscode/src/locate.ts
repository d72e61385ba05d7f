/** Finds an npulint that can serve the editor: what is tried, in which order, and why each was refused. */
import * as path from "node:path";

export type Origin = "setting" | "interpreter" | "venv" | "path" | "bundled";

/** A way to start npulint; the words of its own command line follow `args`. */
export interface Candidate {
  origin: Origin;
  command: string;
  args: readonly string[];
}

export interface Located extends Candidate {
  version: string;
}

/** Where npulint may be. Everything that the workspace decides is ignored unless the workspace is trusted. */
export interface Places {
  /** The setting `npulint.path`, absolute; empty if not set. */
  setting: string;
  /** The interpreter that is selected in the Python extension. */
  interpreter: string | undefined;
  folders: readonly string[];
  trusted: boolean;
  /** The script that starts the npulint of this extension; undefined if the package has none. */
  bundled: string | undefined;
  /** The variable PATH. */
  searchPath: string;
  windows: boolean;
  exists: (file: string) => boolean;
}

/** What a probe of a candidate found: its version, or why it cannot be used. */
export type Probe = (candidate: Candidate) => Promise<{ version: string } | { problem: string }>;

export interface Search {
  found: Located | undefined;
  refused: { candidate: Candidate; problem: string }[];
}

const PYTHON = /^python[\d.]*(\.exe)?$/i;
const INTERPRETERS = ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10", "python"];

/** The first candidate that works. With the setting `npulint.path` only that one is tried: a typing error must not
 * silently start another npulint. */
export async function locate(places: Places, probe: Probe): Promise<Search> {
  const refused: Search["refused"] = [];
  for (const candidate of candidates(places)) {
    const answer = await probe(candidate);
    if ("version" in answer) {
      return { found: { ...candidate, version: answer.version }, refused };
    }
    refused.push({ candidate, problem: answer.problem });
  }
  return { found: undefined, refused };
}

/** All candidates, in the order in which they are tried. */
export function candidates(places: Places): Candidate[] {
  if (places.setting) {
    return [started("setting", places.setting)];
  }
  const pythons = interpreters(places);
  const own = pythons.map(({ origin, file }) => started(origin, file));
  const onPath = which("npulint", places).map((file) => started("path", file));
  const script = places.bundled;
  if (script === undefined) {
    return [...own, ...onPath];
  }
  const files = new Set([...pythons.map(({ file }) => file), ...INTERPRETERS.flatMap((name) => which(name, places))]);
  const bundled = [...files].map((command) => ({ origin: "bundled" as const, command, args: ["-I", script] }));
  return [...own, ...onPath, ...bundled];
}

/** The interpreter that is selected, and those of the virtual environments in the workspace. */
function interpreters(places: Places): { origin: Origin; file: string }[] {
  if (!places.trusted) {
    return [];
  }
  const found: { origin: Origin; file: string }[] = [];
  if (places.interpreter !== undefined) {
    found.push({ origin: "interpreter", file: places.interpreter });
  }
  const below = places.windows ? ["Scripts", "python.exe"] : ["bin", "python"];
  for (const folder of places.folders) {
    const file = path.join(folder, ".venv", ...below);
    if (file !== places.interpreter && places.exists(file)) {
      found.push({ origin: "venv", file });
    }
  }
  return found;
}

/** An interpreter runs npulint as a module, isolated: the working directory must not provide modules. */
function started(origin: Origin, file: string): Candidate {
  const args = PYTHON.test(path.basename(file)) ? ["-I", "-m", "npulint"] : [];
  return { origin, command: file, args };
}

/** The first program of this name on PATH, if any. Relative entries are ignored, and so are those inside a workspace
 * that is not trusted. */
function which(name: string, places: Places): string[] {
  const separator = places.windows ? ";" : ":";
  const suffix = places.windows ? ".exe" : "";
  for (const entry of places.searchPath.split(separator)) {
    if (!path.isAbsolute(entry) || (!places.trusted && places.folders.some((folder) => isInside(entry, folder)))) {
      continue;
    }
    const file = path.join(entry, name + suffix);
    if (places.exists(file)) {
      return [file];
    }
  }
  return [];
}

function isInside(file: string, folder: string): boolean {
  const relative = path.relative(folder, file);
  return relative === "" || (!relative.startsWith("..") && !path.isAbsolute(relative));
}
