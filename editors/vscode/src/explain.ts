/** Explains a check: the one under the cursor, or one that the user picks from the list. */
import * as vscode from "vscode";
import type { MarkdownPreview } from "./markdownPreview";
import { mentioned } from "./mentioned";
import { explainArguments, rulesArguments } from "./options";
import type { Runner } from "./runner";
import { languageOf, optionsFor } from "./settings";

interface Rule {
  code: string;
  name: string;
  title: string;
}

export class Explainer {
  constructor(
    private readonly runner: Runner,
    private readonly preview: MarkdownPreview,
  ) {}

  async explainChosen(): Promise<void> {
    const check = underCursor() ?? (await this.picked());
    if (check !== undefined) {
      await this.explain(check);
    }
  }

  /** Shows the page of a check, given by its code or name. */
  async explain(check: string): Promise<void> {
    const options = optionsFor(vscode.window.activeTextEditor?.document.uri);
    const title = vscode.l10n.t("Reading the page of {0}", check);
    const page = await this.runner.printed(title, explainArguments(options, languageOf(options), check));
    if (page !== undefined) {
      await this.preview.show(check, page);
    }
  }

  private async picked(): Promise<string | undefined> {
    const options = optionsFor(vscode.window.activeTextEditor?.document.uri);
    const title = vscode.l10n.t("Reading the list of checks");
    const text = await this.runner.printed(title, rulesArguments(options, languageOf(options)));
    if (text === undefined) {
      return undefined;
    }
    const items = (JSON.parse(text) as Rule[]).map(({ code, name, title }) => ({
      label: name,
      description: code,
      detail: title,
    }));
    const placeHolder = vscode.l10n.t("A check, by its name, code or title");
    const picked = await vscode.window.showQuickPick(items, {
      placeHolder,
      matchOnDescription: true,
      matchOnDetail: true,
    });
    return picked?.description;
  }
}

/** The check of the finding at the cursor, else the one that the text there names. */
function underCursor(): string | undefined {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    return undefined;
  }
  const { document, selection } = editor;
  const finding = vscode.languages
    .getDiagnostics(document.uri)
    .find((one) => one.source === "npulint" && one.range.contains(selection.active));
  const code = typeof finding?.code === "object" ? finding.code.value : finding?.code;
  return code === undefined
    ? mentioned(document.lineAt(selection.active.line).text, selection.active.character)
    : String(code);
}
