/** The task `npulint: check`, which prints the report of a folder in the terminal. */
import * as vscode from "vscode";
import { chosenFolder } from "./folders";
import type { Installation } from "./installation";
import { checkArguments } from "./options";
import { isEnabled, languageOf, optionsFor } from "./settings";

interface Definition extends vscode.TaskDefinition {
  command: "check";
  args?: string[];
}

const MATCHER = "$npulint";

export class CheckTasks implements vscode.TaskProvider {
  constructor(private readonly installation: Installation) {}

  /** Runs the task for the folder that the user means. */
  async checkWorkspace(): Promise<void> {
    const folder = await chosenFolder();
    const task = folder && (await this.task(folder, { type: "npulint", command: "check" }));
    if (task !== undefined) {
      await vscode.tasks.executeTask(task);
    }
  }

  async provideTasks(): Promise<vscode.Task[]> {
    const folders = vscode.workspace.workspaceFolders ?? [];
    const tasks = folders.map((folder) => this.task(folder, { type: "npulint", command: "check" }));
    return (await Promise.all(tasks)).filter((task) => task !== undefined);
  }

  async resolveTask(task: vscode.Task): Promise<vscode.Task | undefined> {
    const scope = task.scope;
    const folder = typeof scope === "object" ? scope : vscode.workspace.workspaceFolders?.[0];
    return folder && this.task(folder, task.definition as Definition);
  }

  private async task(folder: vscode.WorkspaceFolder, definition: Definition): Promise<vscode.Task | undefined> {
    const npulint = await this.installation.current();
    if (npulint === undefined) {
      return undefined;
    }
    const options = optionsFor(folder.uri);
    options.args.push(...(definition.args ?? []));
    // The server has its findings in the Problems panel already; the matcher would list them twice.
    const [format, matchers] = isEnabled() ? ["text", []] : ["concise", [MATCHER]];
    const args = [...checkArguments(options, languageOf(options), "."), `--format=${format}`];
    const execution = new vscode.ProcessExecution(npulint.command, [...npulint.args, ...args], {
      cwd: folder.uri.fsPath,
    });
    const task = new vscode.Task(definition, folder, "check", "npulint", execution, matchers);
    task.group = vscode.TaskGroup.Test;
    task.presentationOptions = { clear: true, reveal: vscode.TaskRevealKind.Always };
    return task;
  }
}
