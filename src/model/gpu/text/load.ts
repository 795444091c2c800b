import type { Gpu } from '../../../gpu/device.ts';
import { write } from '../../../gpu/tensor.ts';
import type { ModelConfig } from '../../architecture.ts';
import { storedTensor, readFloat32, type WeightSource } from '../../weightSource.ts';
import { rotaryTable } from '../transformer.ts';
import { loadMatrix } from '../matrices.ts';
import type { TextTensors } from './textTensors.ts';

/** Called with the number of matrices and vectors read so far. */
export type LoadProgress = (done: number, total: number) => void;

/** One matrix at a time, norms and biases as float32; also the rotary table. Throws ProblemError that names file and tensor. */
export async function loadText(
  gpu: Gpu,
  model: ModelConfig,
  source: WeightSource,
  tensors: TextTensors,
  { length, progress }: { readonly length: number; readonly progress: LoadProgress },
): Promise<void> {
  const { matrices, vectors } = tensors;
  const total = matrices.length + vectors.size;
  let done = 0;
  for (const matrix of matrices) {
    await loadMatrix(gpu, source, matrix);
    progress(++done, total);
  }
  for (const [tensor, names] of vectors) {
    let at = 0;
    for (const name of names) {
      const values = await readFloat32(storedTensor(source, name));
      write(gpu, tensor, values, at);
      at += values.length;
    }
    progress(++done, total);
  }
  write(gpu, tensors.rotary, rotaryTable(model, length));
}
