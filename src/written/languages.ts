import { type EnvironmentFile, languageOf } from '../domain/environmentFile.ts';
import { type Declaration, readDeclaration } from './script/declaration.ts';
import { readPython } from './python/pythonDeclaration.ts';
import { openPythonSandbox, type StartPython } from './python/pythonSandbox.ts';
import { openSandbox, type Sandbox } from './script/sandbox.ts';

/** The engines that run environments. Each is loaded only when a sandbox is opened. */
export interface Runtimes {
  /** For TypeScript: QuickJS, the file `quickjs-wasi/quickjs.wasm`. */
  readonly quickjsWasm: () => Promise<BufferSource>;
  readonly startPython: StartPython;
}

/** Reads an environment's file in its language, without running it. Throws EnvironmentFileError. */
export function declarationOf(file: EnvironmentFile): Declaration {
  return languageOf(file) === 'python' ? readPython(file.text) : readDeclaration(file.text);
}

/** Opens a sandbox with an environment in it. Throws EnvironmentFileError if the file can't be loaded. */
export async function sandboxFor(declaration: Declaration, { quickjsWasm, startPython }: Runtimes): Promise<Sandbox> {
  return declaration.language === 'python'
    ? openPythonSandbox(startPython, declaration)
    : openSandbox(await quickjsWasm(), declaration);
}
