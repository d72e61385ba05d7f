/** The language server: started, stopped and watched. */
import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, State } from "vscode-languageclient/node";
import { READ_FILES } from "./files";
import type { Installation } from "./installation";
import { serverSettings } from "./options";
import { isEnabled, optionsFor, SECTION } from "./settings";
import type { ServerState } from "./verdict";

/** The command of the server that shows the page of a check; code actions contain it. */
const SHOW_PAGE = "npulint.showPage";

export class Server implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<ServerState>();
  private client: LanguageClient | undefined;
  private turn: Promise<void> = Promise.resolve();

  /** Fires when the server's state has changed. */
  readonly onState = this.changed.event;

  /** `explain` shows the page of a check. */
  constructor(
    private readonly installation: Installation,
    private readonly output: vscode.LogOutputChannel,
    private readonly explain: (check: string) => Promise<void>,
  ) {}

  /** Starts the server again, or ends it if it is switched off. Calls take effect one after the other. */
  restart(): Promise<void> {
    this.turn = this.turn.then(() => this.replace());
    return this.turn;
  }

  stop(): Promise<void> {
    this.turn = this.turn.then(() => this.end());
    return this.turn;
  }

  dispose(): void {
    this.changed.dispose();
  }

  private async replace(): Promise<void> {
    await this.end();
    if (!isEnabled()) {
      this.changed.fire("off");
      return;
    }
    this.changed.fire("starting");
    const npulint = await this.installation.current();
    if (npulint === undefined) {
      this.changed.fire("missing");
      return;
    }
    const executable = {
      command: npulint.command,
      args: [...npulint.args, "server"],
      options: { cwd: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath },
    };
    const client = new LanguageClient(SECTION, "npulint", executable, this.clientOptions());
    client.onDidChangeState(({ newState }) => {
      if (this.client === client) {
        this.changed.fire(newState === State.Stopped ? "failed" : newState === State.Running ? "checking" : "starting");
      }
    });
    this.client = client;
    try {
      await client.start();
    } catch (error) {
      this.output.error(String(error));
      this.changed.fire("failed");
    }
  }

  private async end(): Promise<void> {
    const client = this.client;
    this.client = undefined; // its last change of state is no failure
    try {
      await client?.dispose();
    } catch (error) {
      this.output.warn(String(error));
    }
  }

  /** Findings have come, so their number means something from now on. */
  private answered<T>(report: T): T {
    if (this.client !== undefined) {
      this.changed.fire("ready");
    }
    return report;
  }

  private clientOptions(): LanguageClientOptions {
    return {
      documentSelector: READ_FILES,
      outputChannel: this.output,
      traceOutputChannel: this.output,
      initializationOptions: serverSettings(optionsFor(vscode.workspace.workspaceFolders?.[0]?.uri)),
      middleware: {
        provideDiagnostics: async (document, previous, token, next) => this.answered(await next(document, previous, token)),
        provideWorkspaceDiagnostics: async (ids, token, report, next) => this.answered(await next(ids, token, report)),
        // the section also has settings of this extension, which the server would call unknown
        workspace: {
          didChangeConfiguration: (_, next) => next(undefined), // the server then requests what has changed
          configuration: ({ items }) =>
            items.map(({ scopeUri }) =>
              serverSettings(optionsFor(scopeUri ? vscode.Uri.parse(scopeUri) : firstFolder())),
            ),
        },
        executeCommand: async (command, args, next) => {
          if (command !== SHOW_PAGE) {
            return (await next(command, args)) as unknown;
          }
          return this.explain(String(args[0]));
        },
      },
    };
  }
}

function firstFolder(): vscode.Uri | undefined {
  return vscode.workspace.workspaceFolders?.[0]?.uri;
}
