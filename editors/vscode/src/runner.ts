/** Runs a command of npulint with a progress notification, and says what went wrong. */
import * as vscode from "vscode";
import type { Installation } from "./installation";
import { run } from "./processes";

export class Runner {
  constructor(
    private readonly installation: Installation,
    private readonly output: vscode.LogOutputChannel,
  ) {}

  /** What npulint prints. Undefined if it failed or was cancelled; the user then knows why. */
  async printed(title: string, args: readonly string[], folder?: vscode.Uri): Promise<string | undefined> {
    const npulint = await this.installation.current();
    if (npulint === undefined) {
      await this.complain(vscode.l10n.t("npulint was not found."));
      return undefined;
    }
    const location = vscode.ProgressLocation.Notification;
    return vscode.window.withProgress({ location, title, cancellable: true }, async (_, token) => {
      const stop = new AbortController();
      token.onCancellationRequested(() => {
        stop.abort();
      });
      const cwd = folder?.fsPath;
      const ended = await run(npulint.command, [...npulint.args, ...args], {
        signal: stop.signal,
        ...(cwd === undefined ? {} : { cwd }),
      });
      if (token.isCancellationRequested) {
        return undefined;
      }
      if (ended.code === 0) {
        return ended.stdout;
      }
      this.output.error(`npulint ${args.join(" ")}: ${ended.stderr}`);
      const reason = ended.stderr.trim().split("\n").at(-1) ?? "";
      void this.complain(vscode.l10n.t("npulint failed: {0}", reason));
      return undefined;
    });
  }

  private async complain(text: string): Promise<void> {
    const show = vscode.l10n.t("Show Output");
    if ((await vscode.window.showErrorMessage(text, show)) === show) {
      this.output.show();
    }
  }
}
