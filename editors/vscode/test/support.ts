/** What several tests share. */
import type { Options } from "../src/options";

/** Options where nothing is set but the given ones. */
export function options(given: Partial<Options> = {}): Options {
  return {
    select: [],
    extendSelect: [],
    ignore: [],
    target: {},
    minSeverity: "",
    minConfidence: "",
    config: "",
    checks: [],
    baseline: "",
    docsUrl: "",
    lang: "auto",
    run: "onType",
    scope: "errors",
    args: [],
    ...given,
  };
}
