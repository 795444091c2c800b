import { openHost } from '../../src/worker/workerHost.ts';
import { runPart } from './kitParts.ts';
import type { PartResult } from './kitPart.ts';

/** Runs a part of the kit in this page. The page's server has the golden files. */
export function check(name: string, quick: boolean, fixtures: readonly string[]): Promise<PartResult> {
  const readFixture = async (file: string) => new Uint8Array(await (await fetch(`/golden/${file}`)).arrayBuffer());
  return runPart(name, quick, { gpu: navigator.gpu, host: openHost(() => false), fixtures, readFixture });
}
