import type { EnvironmentFile } from '../../domain/environmentFile.ts';
import type { ClassSettings } from '../classSettings.ts';
import type { Declaration } from '../declaration.ts';
import type { PythonNames } from './pythonNames.ts';

/** What an environment's export is written from. */
export interface EnvironmentToExport {
  readonly file: EnvironmentFile;
  readonly declaration: Declaration;
  readonly settings: ClassSettings;
  /** The virtual machine, as `quickjs-wasi/quickjs.wasm` has it. */
  readonly machine: Uint8Array;
}

/** An environment with the names that it has in Python. */
export interface Exported extends EnvironmentToExport {
  readonly names: PythonNames;
}
