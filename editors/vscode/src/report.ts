/** The HTML report of a folder, and the plan of its port. */
import * as fs from "node:fs/promises";
import * as os from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import { chosenFolder } from "./folders";
import type { MarkdownPreview } from "./markdownPreview";
import { portArguments, reportArguments } from "./options";
import type { Runner } from "./runner";
import { languageOf, optionsFor } from "./settings";

export class Reports implements vscode.Disposable {
  private temporary: string | undefined;

  constructor(
    private readonly runner: Runner,
    private readonly preview: MarkdownPreview,
  ) {}

  /** Writes the report to a temporary file and opens it: in the browser, or in a tab where the file is elsewhere. */
  async openReport(): Promise<void> {
    const folder = await chosenFolder();
    if (folder === undefined) {
      return;
    }
    this.temporary ??= await fs.mkdtemp(path.join(os.tmpdir(), "npulint-"));
    const file = path.join(this.temporary, `${folder.name}.html`);
    const options = optionsFor(folder.uri);
    const args = reportArguments(options, languageOf(options), folder.uri.fsPath, file);
    const title = vscode.l10n.t("Checking {0}", folder.name);
    if ((await this.runner.printed(title, args, folder.uri)) === undefined) {
      return;
    }
    const isLocal = vscode.env.remoteName === undefined && vscode.env.uiKind === vscode.UIKind.Desktop;
    if (!isLocal || !(await vscode.env.openExternal(vscode.Uri.file(file)))) {
      await showInTab(vscode.l10n.t("Report of {0}", folder.name), file);
    }
  }

  async showPortPlan(): Promise<void> {
    const folder = await chosenFolder();
    if (folder === undefined) {
      return;
    }
    const options = optionsFor(folder.uri);
    const args = portArguments(options, languageOf(options), folder.uri.fsPath);
    const plan = await this.runner.printed(vscode.l10n.t("Planning the port of {0}", folder.name), args, folder.uri);
    if (plan !== undefined) {
      await this.preview.show(vscode.l10n.t("Port plan of {0}", folder.name), plan);
    }
  }

  dispose(): void {
    if (this.temporary !== undefined) {
      void fs.rm(this.temporary, { recursive: true, force: true });
    }
  }
}

/** The page brings its own policy, which allows nothing from elsewhere. */
async function showInTab(title: string, file: string): Promise<void> {
  const panel = vscode.window.createWebviewPanel("npulint.report", title, vscode.ViewColumn.Active, {
    enableScripts: true,
    enableFindWidget: true,
    localResourceRoots: [],
  });
  panel.webview.html = await fs.readFile(file, "utf8");
}
