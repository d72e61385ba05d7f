/** The entry point: makes the parts, connects them, and starts the server. */
import * as vscode from "vscode";
import { Explainer } from "./explain";
import { Installation } from "./installation";
import { onInterpreterChange } from "./interpreter";
import { MarkdownPreview } from "./markdownPreview";
import { showMenu } from "./menu";
import { Reports } from "./report";
import { Runner } from "./runner";
import { Server } from "./server";
import { StatusBar } from "./statusBar";
import { CheckTasks } from "./tasks";

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const output = vscode.window.createOutputChannel("npulint", { log: true });
  const installation = new Installation(context, output);
  const runner = new Runner(installation, output);
  const preview = new MarkdownPreview();
  const explainer = new Explainer(runner, preview);
  const reports = new Reports(runner, preview);
  const tasks = new CheckTasks(installation);
  const statusBar = new StatusBar();
  const own = new Server(installation, output, (check) => explainer.explain(check));
  server = own;

  const startAgain = (): Promise<void> => {
    installation.forget();
    return own.restart();
  };
  const commands: Record<string, () => unknown> = {
    checkWorkspace: () => tasks.checkWorkspace(),
    openReport: () => reports.openReport(),
    showPortPlan: () => reports.showPortPlan(),
    explainCheck: () => explainer.explainChosen(),
    restartServer: startAgain,
    showOutput: () => {
      output.show();
    },
    showMenu,
  };
  context.subscriptions.push(
    output,
    preview,
    reports,
    statusBar,
    own,
    own.onState((state) => {
      statusBar.show(state);
    }),
    ...Object.entries(commands).map(([name, run]) => vscode.commands.registerCommand(`npulint.${name}`, run)),
    vscode.tasks.registerTaskProvider("npulint", tasks),
    vscode.workspace.onDidGrantWorkspaceTrust(startAgain),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("npulint.path") || event.affectsConfiguration("npulint.enable")) {
        void startAgain();
      }
    }),
  );
  void onInterpreterChange(() => void startAgain()).then((watching) => watching && context.subscriptions.push(watching));
  void own.restart();
}

export function deactivate(): Promise<void> | undefined {
  return server?.stop();
}
