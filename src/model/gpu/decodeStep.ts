import * as kernels from '../../gpu/kernels/index.ts';
import { Plan, type Recorder } from '../../gpu/plan.ts';
import type { Tensor } from '../../gpu/tensor.ts';
import type { PolicySpec } from '../policy.ts';
import type { DeviceBatch } from './deviceBatch.ts';
import { layerCache, recordDecodeAttention } from './decodeAttention.ts';
import type { DecoderTensors } from './decoderTensors.ts';
import { recordFinalNorm } from './finalNorm.ts';
import { group } from './pools.ts';
import { recordBlocks, type Trunk } from './transformer.ts';

/** Records what advances the first N slots by one token, a dispatch a step of the forward pass. */
export function recordStep(
  recorder: Recorder,
  trunk: Trunk,
  spec: PolicySpec,
  weights: Tensor,
  batch: DeviceBatch,
  { acts: all, positions, cache, state, drawn, settings }: DecoderTensors,
  N: number,
): Plan {
  const { rows: B, length: T, model: m } = spec;
  const C = m.hidden_size;
  const V = m.vocab_size;
  const acts = { ...all, N };
  const table = group(weights, trunk.layout, 'model.embed_tokens.weight', [V, C]);
  const plan = new Plan(recorder, `decode ${N} rows`);
  plan.dispatch(kernels.decodeEmbedding, { state, record: batch.record, table, x: acts.x, positions }, { N, B, C, T });
  recordBlocks(plan, trunk, weights, acts, positions, (layer) => {
    const kept = layerCache(cache, spec, layer);
    const tensors = { qkv: acts.qkv.at(layer), positions, cache: kept, out: acts.attended.at(layer) };
    recordDecodeAttention(plan, spec, tensors, { N, slots: B, appends: true });
  });
  recordFinalNorm(plan, trunk, weights, acts, { language: true, value: false });
  plan.dispatch(
    kernels.decodeSample,
    {
      logits: acts.logits,
      grammar: batch.grammar,
      state,
      record: batch.record,
      drawn,
      sampled: batch.sampled,
      settings,
    },
    { N, B, V, T },
  );
  return plan;
}
