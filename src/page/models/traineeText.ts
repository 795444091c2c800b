import type { RunConfig } from '../../config/fields.ts';
import type { ModelCard } from '../../domain/modelCard.ts';
import { counted, count, wholeNumber } from '../words/numberText.ts';

/** Facts about a model that its knobs don't contain; null: not known yet. */
export interface ModelFacts {
  readonly parameters: number | null; // number of trained parameters; with a checkpoint, those of the adapters
  readonly vocabulary: number | null; // V
  readonly card: Pick<ModelCard, 'title' | 'parameters' | 'layers' | 'width' | 'heads'> | null; // of the checkpoint
  readonly checkpointName: string; // name of the checkpoint's file or folder; '': none was chosen
}

export interface TraineeText {
  readonly model: string;
  readonly learns: string;
}

const TARGETS: Readonly<Record<RunConfig['adapterTargets'], string>> = {
  all: 'all seven linear layers',
  attention: 'the four linear layers of attention',
  mlp: 'the three linear layers of the MLP',
};

/** The sizes of the model that the knobs set, short enough for a heading. */
export function sizesInWords({ model, layers, width, adapterRank }: RunConfig): string {
  return model === 'checkpoint'
    ? `a checkpoint, adapters of rank ${adapterRank}`
    : `${counted(layers, 'layer')}, width ${width}`;
}

/** Sentences on what a run with these knobs trains. Facts that are null are left out. */
export function traineeInWords(
  config: RunConfig,
  { parameters, vocabulary, card, checkpointName }: ModelFacts,
): TraineeText {
  if (config.model === 'checkpoint') {
    const sizes = card && [
      `${count(card.parameters)} parameters`,
      counted(card.layers, 'layer'),
      ...[`width ${card.width}`, counted(card.heads, 'head')],
    ];
    const learns = [
      `adapters (LoRA) of rank ${config.adapterRank} at ${TARGETS[config.adapterTargets]} of each block`,
      ...(parameters === null ? [] : [`${count(parameters)} numbers`]),
    ];
    return {
      model:
        card && sizes
          ? `${card.title}, ${sizes.join(', ')}`
          : checkpointName || 'a checkpoint that you open under Models',
      learns: `It trains ${learns.join(', ')}. The model’s own weights don’t change.`,
    };
  }
  const { layers, width, heads, kvHeads, ffn, tieEmbeddings, attentionBias, language, critic } = config;
  const sizes = [
    ...(parameters === null ? [] : [`${count(parameters)} parameters`]),
    ...[counted(layers, 'layer'), `width ${width}`, counted(heads, 'head')],
    ...(kvHeads === heads ? [] : [`${kvHeads} of keys and values`]),
    ...[`MLP ${ffn}`, tieEmbeddings === 'on' ? 'output and embedding share weights' : 'an output layer of its own'],
    ...(attentionBias === 'on' ? ['biases on q, k and v'] : []),
  ];
  const words =
    vocabulary === null ? '' : ` It knows ${wholeNumber(vocabulary)} ${language === 'words' ? 'words' : 'tokens'}.`;
  const separate = critic === 'separate' ? ' A separate critic of the same size is trained too.' : '';
  return { model: `a Llama transformer, ${sizes.join(', ')}`, learns: `All weights are trained.${separate}${words}` };
}
