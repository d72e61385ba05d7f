/** The npulint that everything uses, found once and again when what decides it has changed. */
import * as fs from "node:fs";
import * as vscode from "vscode";
import { selectedInterpreter } from "./interpreter";
import { type Located, locate } from "./locate";
import { probe } from "./probe";
import { configuredPath } from "./settings";

export class Installation {
  private search: Promise<Located | undefined> | undefined;

  constructor(
    private readonly extension: vscode.ExtensionContext,
    private readonly output: vscode.LogOutputChannel,
  ) {}

  /** The npulint to use; undefined if there is none, and then the output says what was tried. */
  current(): Promise<Located | undefined> {
    this.search ??= this.find();
    return this.search;
  }

  forget(): void {
    this.search = undefined;
  }

  private async find(): Promise<Located | undefined> {
    const folders = vscode.workspace.workspaceFolders ?? [];
    const trusted = vscode.workspace.isTrusted;
    const script = this.extension.asAbsolutePath("bundled/run.py");
    const { found, refused } = await locate(
      {
        setting: configuredPath(folders[0]?.uri.fsPath),
        interpreter: trusted ? await selectedInterpreter(folders[0]?.uri) : undefined,
        folders: folders.map((folder) => folder.uri.fsPath),
        trusted,
        bundled: fs.existsSync(script) ? script : undefined,
        searchPath: process.env.PATH ?? "",
        windows: process.platform === "win32",
        exists: (file) => fs.existsSync(file),
      },
      probe,
    );
    for (const { candidate, problem } of refused) {
      this.output.info(`${[candidate.command, ...candidate.args].join(" ")} (${candidate.origin}): ${problem}`);
    }
    if (found !== undefined) {
      this.output.info(`npulint ${found.version}: ${[found.command, ...found.args].join(" ")} (${found.origin})`);
    }
    return found;
  }
}
