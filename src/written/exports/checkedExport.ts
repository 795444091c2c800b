import type { CheckReport } from '../checker.ts';
import { type Declaration, EnvironmentFileError } from '../declaration.ts';
import { faultsOf } from '../../domain/checkFindings.ts';
import { exportFolder } from './exportFolder.ts';
import type { EnvironmentToExport } from './exportInput.ts';

/**
 * The files of an environment's export, by name, with the settings that its check found; null where the check found a fault. Throws
 * EnvironmentFileError where a name can't be written in Python.
 */
export function checkedExport(
  { file, declaration }: Pick<EnvironmentToExport, 'file' | 'declaration'>,
  report: CheckReport,
  machine: Uint8Array,
): ReadonlyMap<string, Uint8Array> | null {
  refusePython(declaration);
  if (faultsOf(report).length > 0) return null;
  return exportFolder({ file, declaration, settings: report.settled, machine });
}

/** Throws EnvironmentFileError where a class is in Python: exports are made of TypeScript, and TRL needs none. */
export function refusePython({ language, name }: Pick<Declaration, 'language' | 'name'>): void {
  if (language !== 'python') return;
  throw new EnvironmentFileError(
    `A class in Python isn’t exported. TRL trains on the file as it is: environment_factory=${name}.`,
    null,
  );
}
