import { trainHere } from '../../src/cli/oneRun.ts';
import { presetConfig } from '../../src/page/knobs/configStore.ts';
import { type ArmPlan, type ArmResult, resultOf } from '../../src/page/learn/exercise.ts';
import { readLog } from '../../src/runs/log.ts';

/** Trains an arm in this process, on the CPU, with the knobs that the page gives it. Its result has no batch. */
export async function trainedArm({ preset, set, updates }: ArmPlan, seed: number): Promise<ArmResult> {
  const config = { ...presetConfig(preset), ...set, backend: 'cpu', seed, updates } as const;
  let text = '';
  await trainHere({ experiment: 'answers', arm: preset, seed, config }, (message) => {
    if (message.type === 'failed') throw new Error(message.message);
    if (message.type === 'done') text = message.log;
  });
  return resultOf(readLog(text, { name: preset, written: '' }));
}
