import type { EnvironmentFile } from '../../domain/environmentFile.ts';
import type { ClassSettings } from '../classSettings.ts';
import type { Declaration } from '../declaration.ts';
import type { PythonNames } from './pythonNames.ts';

/** An environment that is to be exported. */
export interface EnvironmentToExport {
  readonly file: EnvironmentFile;
  readonly declaration: Declaration;
  readonly settings: ClassSettings;
  /** The virtual machine: the bytes of `quickjs-wasi/quickjs.wasm`. */
  readonly quickjsWasm: Uint8Array;
}

/** An environment to export, with its names in Python. */
export interface NamedExport extends EnvironmentToExport {
  readonly names: PythonNames;
}
