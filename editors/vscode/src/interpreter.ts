/** The interpreter that is selected in the Python extension, if that is installed. */
import * as vscode from "vscode";

/** The part of the extension's interface that is used here. */
interface PythonApi {
  environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(environment: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
    onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

async function pythonApi(): Promise<PythonApi | undefined> {
  const extension = vscode.extensions.getExtension<PythonApi>("ms-python.python");
  try {
    return await extension?.activate();
  } catch {
    return undefined; // its own trouble
  }
}

export async function selectedInterpreter(folder: vscode.Uri | undefined): Promise<string | undefined> {
  const environments = (await pythonApi())?.environments;
  const active = environments?.getActiveEnvironmentPath(folder);
  if (environments === undefined || active === undefined) {
    return undefined;
  }
  const environment = await environments.resolveEnvironment(active);
  return environment?.executable.uri?.fsPath;
}

/** Calls back when another interpreter is selected. */
export async function onInterpreterChange(changed: () => void): Promise<vscode.Disposable | undefined> {
  return (await pythonApi())?.environments.onDidChangeActiveEnvironmentPath(changed);
}
