/** The item in the status bar: the state of the server, and how many errors and warnings there are. */
import * as vscode from "vscode";
import { type Counts, type ServerState, verdict } from "./verdict";

const COLOR = { plain: undefined, warning: "statusBarItem.warningBackground", error: "statusBarItem.errorBackground" };

export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("npulint.status", vscode.StatusBarAlignment.Left);
  private readonly watching: vscode.Disposable;
  private state: ServerState = "starting";

  constructor() {
    this.item.name = "npulint";
    this.item.command = "npulint.showMenu";
    this.watching = vscode.languages.onDidChangeDiagnostics(() => {
      this.update();
    });
    this.update();
    this.item.show();
  }

  show(state: ServerState): void {
    this.state = state;
    this.update();
  }

  dispose(): void {
    this.watching.dispose();
    this.item.dispose();
  }

  private update(): void {
    const { text, tooltip, level } = verdict(this.state, countedFindings(), vscode.l10n.t);
    const color = COLOR[level];
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.accessibilityInformation = { label: `npulint: ${tooltip}` };
    this.item.backgroundColor = color === undefined ? undefined : new vscode.ThemeColor(color);
  }
}

/** The findings that VS Code shows, whatever brought them. */
export function countedFindings(): Counts {
  const counts = { errors: 0, warnings: 0 };
  for (const [, shown] of vscode.languages.getDiagnostics()) {
    for (const one of shown) {
      if (one.source === "npulint") {
        counts.errors += Number(one.severity === vscode.DiagnosticSeverity.Error);
        counts.warnings += Number(one.severity === vscode.DiagnosticSeverity.Warning);
      }
    }
  }
  return counts;
}
