import { type CheckReport, faultsOf } from '../checker.ts';
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
  if (faultsOf(report).length > 0) return null;
  return exportFolder({ file, declaration, settings: report.settled, machine });
}
