/** The settings as plain values, and what becomes of them: command lines and settings of the server. */

export type Language = "en" | "zh";

/** The settings that decide what is checked, as written by the user; empty means not set. */
export interface Options {
  select: string[];
  extendSelect: string[];
  ignore: string[];
  target: Record<string, string>;
  minSeverity: string;
  minConfidence: string;
  config: string;
  checks: string[];
  baseline: string;
  docsUrl: string;
  lang: "auto" | Language;
  run: string;
  scope: string;
  args: string[];
}

/** What the server is sent: the options that it knows. It uses the language of the editor on its own. */
export function serverSettings(options: Options): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).filter(([name]) => name !== "args"));
}

/** The language of texts: that of the setting, else of the editor. */
export function language(options: Options, displayLanguage: string): Language {
  if (options.lang !== "auto") {
    return options.lang;
  }
  return displayLanguage.toLowerCase().startsWith("zh") ? "zh" : "en";
}

/** `npulint check FOLDER`. Findings are no failure: a task that fails asks the user for attention. */
export function checkArguments(options: Options, lang: Language, folder: string): string[] {
  return ["check", ...selection(options, lang), ...reporting(options), "--fail-on=never", ...options.args, folder];
}

/** `npulint check FOLDER`, which writes the HTML report to a file. */
export function reportArguments(options: Options, lang: Language, folder: string, file: string): string[] {
  const output = [`--output=html=${file}`, "--format=concise"];
  return ["check", ...selection(options, lang), ...reporting(options), ...options.args, ...output, "--exit-zero", folder];
}

/** `npulint port FOLDER`, which prints the plan and changes nothing. */
export function portArguments(options: Options, lang: Language, folder: string): string[] {
  return ["port", ...selection(options, lang), "--format=markdown", folder];
}

/** `npulint explain CHECK`, which prints Markdown. */
export function explainArguments(options: Options, lang: Language, check: string): string[] {
  return ["explain", ...repeated("--checks", options.checks), `--lang=${lang}`, check];
}

/** `npulint rules`, for a list to choose from. */
export function rulesArguments(options: Options, lang: Language): string[] {
  return ["rules", ...repeated("--checks", options.checks), `--lang=${lang}`, "--format=json"];
}

function selection(options: Options, lang: Language): string[] {
  return [
    ...listed("--select", options.select),
    ...listed("--extend-select", options.extendSelect),
    ...listed("--ignore", options.ignore),
    ...repeated("--checks", options.checks),
    ...repeated("--target", Object.entries(options.target).map(([key, value]) => `${key}=${value}`)),
    ...given("--config", options.config),
    `--lang=${lang}`,
  ];
}

function reporting(options: Options): string[] {
  return [
    ...given("--min-severity", options.minSeverity),
    ...given("--min-confidence", options.minConfidence),
    ...given("--baseline", options.baseline),
    ...given("--docs-url", options.docsUrl),
  ];
}

// Always `--option=value`: a workspace decides some of the values, and none of them may become an option of its own.

function given(option: string, value: string): string[] {
  return value ? [`${option}=${value}`] : [];
}

function listed(option: string, values: readonly string[]): string[] {
  return values.length > 0 ? [`${option}=${values.join(",")}`] : [];
}

function repeated(option: string, values: readonly string[]): string[] {
  return values.map((value) => `${option}=${value}`);
}
