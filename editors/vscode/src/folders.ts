/** The workspace folder that a command is about. */
import * as vscode from "vscode";

/** The only folder, that of the active editor, or the one that the user picks. */
export async function chosenFolder(): Promise<vscode.WorkspaceFolder | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length === 0) {
    void vscode.window.showInformationMessage(vscode.l10n.t("Open a folder first."));
    return undefined;
  }
  if (folders.length === 1) {
    return folders[0];
  }
  const active = vscode.window.activeTextEditor?.document.uri;
  const own = active && vscode.workspace.getWorkspaceFolder(active);
  return own ?? vscode.window.showWorkspaceFolderPick();
}
