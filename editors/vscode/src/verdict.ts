/** What the status bar says, from the state of the server and the findings; nothing of VS Code is needed for it. */

export type ServerState = "off" | "starting" | "checking" | "ready" | "failed" | "missing";

export interface Counts {
  errors: number;
  warnings: number;
}

export interface Verdict {
  text: string;
  tooltip: string;
  /** How much attention it asks for. */
  level: "plain" | "warning" | "error";
}

/** A text of the user's language, with numbered places. */
export type Translate = (text: string, ...values: (string | number)[]) => string;

export function verdict(state: ServerState, counts: Counts, t: Translate): Verdict {
  switch (state) {
    case "off":
      return { text: "$(circle-slash) npulint", tooltip: t("The language server is switched off."), level: "plain" };
    case "starting":
      return { text: "$(loading~spin) npulint", tooltip: t("The language server is starting."), level: "plain" };
    case "checking":
      return { text: "$(loading~spin) npulint", tooltip: t("The first check is running."), level: "plain" };
    case "failed":
      return { text: "$(error) npulint", tooltip: t("The language server has failed."), level: "error" };
    case "missing":
      return { text: "$(error) npulint", tooltip: t("npulint was not found."), level: "error" };
    case "ready":
      return ready(counts, t);
  }
}

function ready({ errors, warnings }: Counts, t: Translate): Verdict {
  if (errors === 0 && warnings === 0) {
    return { text: "$(pass) npulint", tooltip: t("No errors or warnings in what is shown."), level: "plain" };
  }
  const tooltip = t("Errors: {0}, warnings: {1}", errors, warnings);
  return { text: `npulint $(error) ${errors} $(warning) ${warnings}`, tooltip, level: errors > 0 ? "warning" : "plain" };
}
