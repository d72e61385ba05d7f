/** What a click on the status bar offers. */
import * as vscode from "vscode";

export async function showMenu(): Promise<void> {
  const { t } = vscode.l10n;
  const items = [
    { label: `$(warning) ${t("Show the Problems")}`, command: "workbench.actions.view.problems" },
    { label: `$(play) ${t("Check Workspace in the Terminal")}`, command: "npulint.checkWorkspace" },
    { label: `$(graph) ${t("Open HTML Report")}`, command: "npulint.openReport" },
    { label: `$(list-ordered) ${t("Show Port Plan")}`, command: "npulint.showPortPlan" },
    { label: `$(question) ${t("Explain a Check")}`, command: "npulint.explainCheck" },
    { label: `$(refresh) ${t("Restart Server")}`, command: "npulint.restartServer" },
    { label: `$(output) ${t("Show Output")}`, command: "npulint.showOutput" },
  ];
  const chosen = await vscode.window.showQuickPick(items, { title: "npulint" });
  if (chosen !== undefined) {
    await vscode.commands.executeCommand(chosen.command);
  }
}
