/** Finds checks that a line names: a code anywhere, a name in a comment of npulint. */

const CODE = /\bNPU\d{2}[\dA-Z]\d\b/g;
const NAMES = /npulint:\s*[a-z-]+\s*=\s*(?<names>[\w-]+(?:\s*,\s*[\w-]+)*)/g;

/** The check that is named at a column of a line, counted from 0. */
export function mentioned(line: string, column: number): string | undefined {
  for (const match of line.matchAll(CODE)) {
    if (holds(match.index, match[0], column)) {
      return match[0];
    }
  }
  for (const comment of line.matchAll(NAMES)) {
    const names = comment.groups?.names ?? "";
    const start = comment.index + comment[0].length - names.length;
    for (const name of names.matchAll(/[\w-]+/g)) {
      if (holds(start + name.index, name[0], column)) {
        return name[0];
      }
    }
  }
  return undefined;
}

function holds(start: number, word: string, column: number): boolean {
  return start <= column && column <= start + word.length;
}
