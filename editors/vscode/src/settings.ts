/** Reads the settings of VS Code. */
import * as os from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import { type Language, language, type Options } from "./options";

export const SECTION = "npulint";

/** The settings for a folder. */
export function optionsFor(scope: vscode.Uri | undefined): Options {
  const section = vscode.workspace.getConfiguration(SECTION, scope);
  const text = (name: string): string => section.get<string | null>(name) ?? "";
  const list = (name: string): string[] => section.get<string[] | null>(name) ?? [];
  return {
    select: list("select"),
    extendSelect: list("extendSelect"),
    ignore: list("ignore"),
    target: { ...section.get<Record<string, string> | null>("target") },
    minSeverity: text("minSeverity"),
    minConfidence: text("minConfidence"),
    config: text("config"),
    checks: list("checks"),
    baseline: text("baseline"),
    docsUrl: text("docsUrl"),
    lang: section.get<"auto" | Language>("lang", "auto"),
    run: text("run"),
    scope: text("scope"),
    args: list("args"),
  };
}

/** The language of texts that npulint prints. */
export function languageOf(options: Options): Language {
  return language(options, vscode.env.language);
}

export function isEnabled(): boolean {
  return vscode.workspace.getConfiguration(SECTION).get("enable", true);
}

/** The setting `npulint.path` as an absolute path; `~` and `${workspaceFolder}` are understood. */
export function configuredPath(folder: string | undefined): string {
  const written = vscode.workspace.getConfiguration(SECTION).get("path", "").trim();
  if (!written) {
    return "";
  }
  const expanded = written.replace(/^~(?=$|[/\\])/, os.homedir()).replaceAll("${workspaceFolder}", folder ?? "");
  return path.resolve(folder ?? os.homedir(), expanded);
}
