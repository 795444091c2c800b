import { encodeSafetensors } from '../formats/safetensors.ts';
import { criticConfig } from '../model/policy.ts';
import { parameters } from '../model/architecture.ts';
import { weightsFileOf } from '../model/weightsFile.ts';
import type { PackedRun } from '../runs/packed.ts';
import { cardFile } from './card.ts';
import { CHAT_TEMPLATE } from './chatTemplate.ts';
import { configFile, MOST_POSITIONS } from './config.ts';
import { curvesFile } from './curves.ts';
import { bytesOf, FILES, type Files } from './folder.ts';
import { generationFile } from './generation.ts';
import { manifestFile, metricsFile } from './manifest.ts';
import { modelOf } from './model.ts';
import { tokenizerConfigFile, tokenizerFile } from './tokenizer.ts';
import { trainingTensors } from './trainingState.ts';

/**
 * A run as the folder of a Hugging Face model, which `AutoModelForCausalLM` and `AutoTokenizer` open, with all beside it that it takes to go
 * on training bit for bit: `readCheckpointFiles` gives the same run back. `packedRun` makes the argument of any Run with a checkpoint.
 */
export function checkpointFiles(run: PackedRun): Files {
  const { checkpoint } = run;
  const { vocabulary, networks } = checkpoint;
  const model = modelOf(checkpoint);
  const { weights } = networks.policy;
  const shapes = new Map([...parameters(criticConfig(model)), ...parameters(model)].map((p) => [p.name, p.shape]));
  const head = parameters(model).filter(({ name }) => name.startsWith('value_head.'));
  const metrics = metricsFile(run.points);
  const files: [string, string | ArrayBuffer][] = [
    [FILES.card, cardFile(run)],
    [FILES.curves, curvesFile(run)],
    [FILES.config, configFile(model, vocabulary)],
    [FILES.generation, generationFile(vocabulary)],
    [FILES.weights, weightsFileOf({ ...model, value_head: false }, weights)],
    [FILES.tokenizer, tokenizerFile(vocabulary)],
    [FILES.tokenizerConfig, tokenizerConfigFile(MOST_POSITIONS)],
    [FILES.template, CHAT_TEMPLATE],
    [FILES.manifest, manifestFile(run, metrics)],
    [FILES.metrics, metrics],
    [FILES.training, encodeSafetensors(trainingTensors(checkpoint, shapes), { format: 'pt' })],
  ];
  if (head.length > 0) {
    const tensors = head.map(({ name, shape }) => {
      return [name, { shape, values: weights.get(name) ?? new Float32Array() }] as const;
    });
    files.push([FILES.valueHead, encodeSafetensors(new Map(tensors), { format: 'pt' })]);
  }
  return new Map(
    files.map(([name, content]) => [name, typeof content === 'string' ? bytesOf(content) : new Uint8Array(content)]),
  );
}
