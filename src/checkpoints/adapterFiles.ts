import { adapterConfig } from '../model/adapterKnobs.ts';
import type { BaseMark } from '../domain/baseMark.ts';
import type { PackedRun } from '../runs/packed.ts';
import { adapterCard } from './modelCardFile.ts';
import { curvesFile } from './curvesFile.ts';
import { peftFolder } from './adapter/peft.ts';
import { bytesOf, FILES, type Files } from './checkpointFolder.ts';
import { environmentFiles, manifestFile, metricsFile } from './manifestFile.ts';
import { trainingStateFile } from './trainingStateFile.ts';

/**
 * A run on a checkpoint as a folder: adapters as PEFT opens them, their moments and all else it takes to go on bit for bit beside `base`, of which nothing
 * is in it but its name. `readCheckpointFiles` gives the same run back.
 */
export function adapterFiles(run: PackedRun, base: BaseMark): Files {
  const { checkpoint } = run;
  const { networks } = checkpoint;
  const adapters = adapterConfig(checkpoint.begun);
  const learned = new Map(
    Array.from(networks.policy.weights, ([name, values]) => {
      return [name, { shape: shapeOf(name, values.length, adapters.rank), values }];
    }),
  );
  const shapes = new Map(Array.from(learned, ([name, { shape }]) => [name, shape]));
  const metrics = metricsFile(run.points);
  return new Map<string, Uint8Array>([
    ...peftFolder(learned, adapters, base.name),
    [FILES.card, bytesOf(adapterCard(run, base))],
    [FILES.curves, bytesOf(curvesFile(run))],
    [FILES.manifest, bytesOf(manifestFile(run, metrics))],
    [FILES.metrics, bytesOf(metrics)],
    ...environmentFiles(run).map(([name, text]) => [name, bytesOf(text)] as const),
    [FILES.training, new Uint8Array(trainingStateFile(checkpoint, shapes))],
  ]);
}

/** A is (rank, in), B (out, rank); a value head is one row and one number. */
function shapeOf(name: string, size: number, rank: number): readonly number[] {
  if (name.endsWith('.lora_A.weight')) return [rank, size / rank];
  if (name.endsWith('.lora_B.weight')) return [size / rank, rank];
  return name === 'value_head.weight' ? [1, size] : [size];
}
