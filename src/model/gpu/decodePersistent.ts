import type { Gpu } from '../../gpu/device.ts';
import * as kernels from '../../gpu/kernels/index.ts';
import { Plan, type Recorder } from '../../gpu/plan.ts';
import { aligned, slice, type Scalar, type Tensor } from '../../gpu/tensor.ts';
import type { ModelConfig } from '../architecture.ts';
import { BackendError, type PolicySpec } from '../policy.ts';
import { qkvWidth } from './activations.ts';
import type { DeviceBatch } from './batch.ts';
import { cacheSlot } from './decodeAttention.ts';
import type { DecoderTensors } from './decoderTensors.ts';
import { layerStride, startOfGroup } from './pools.ts';
import type { Trunk } from './transformer.ts';

/** Vectors of four rows that a workgroup of the persistent kernel keeps at its widest. */
function widest(m: ModelConfig): number {
  return Math.max(qkvWidth(m), m.intermediate_size, m.vocab_size);
}

/**
 * Why a device cannot decode a model with the persistent kernel; null where it can. In halves it could, but it rounds nothing
 * between two kernels: its log-probabilities would be further from what training computes than stepwise ones are.
 */
export function persistentRefusal({ device }: Pick<Gpu, 'device'>, m: ModelConfig, storage: Scalar): string | null {
  if (storage !== 'f32') return `Persistent decoding wants f32 storage; got ${storage}.`;
  const Q = m.num_attention_heads * m.head_dim;
  const odd = Object.entries({ width: m.hidden_size, heads: Q, ffn: m.intermediate_size, 'head size': m.head_dim })
    .filter(([, n]) => n % 4 !== 0)
    .map(([name, n]) => `${name} ${n}`);
  if (odd.length > 0) return `Persistent decoding wants sizes divisible by 4; got ${odd.join(', ')}.`;
  const bytes = 16 * (m.hidden_size + Q + widest(m)) + 64;
  const limit = device.limits.maxComputeWorkgroupStorageSize;
  if (bytes > limit) return `Persistent decoding wants ${bytes} bytes of workgroup memory; this device has ${limit}.`;
  return null;
}

/** Threads of a workgroup: one subgroup in software, where barriers between subgroups are dear. */
function threads({ software, lanes }: Gpu): number {
  return software ? Math.max(lanes, 4) : 128;
}

/** Records decoding of a whole chunk as one dispatch. */
export function recordPersistent(
  recorder: Recorder,
  trunk: Trunk,
  spec: PolicySpec,
  weights: Tensor,
  batch: DeviceBatch,
  { cache, state, drawn, settings }: DecoderTensors,
): Plan {
  const { rows: B, length: T, model: m } = spec;
  const { gpu } = recorder;
  const { layout } = trunk;
  const refusal = persistentRefusal(gpu, m, cache.scalar);
  if (refusal !== null)
    throw new BackendError(refusal, 'Decode stepwise, or change width, heads, ffn or how numbers are stored.', [
      'width',
      'heads',
      'ffn',
    ]);
  const first = (name: string) => startOfGroup(layout, `model.layers.0.${name}`);
  const D = m.head_dim;
  const sizes = { C: m.hidden_size, F: m.intermediate_size, V: m.vocab_size, L: m.num_hidden_layers };
  const heads = { H: m.num_attention_heads, G: m.num_key_value_heads, D };
  const plan = new Plan(recorder, 'decode chunk');
  plan.dispatch(
    kernels.decodePersistent,
    {
      weights: slice(weights, 'weights', 0, [layout.size]),
      table: trunk.rotaryTable,
      grammar: batch.grammar,
      cache,
      state,
      record: batch.record,
      drawn,
      sampled: batch.sampled,
      settings,
    },
    {
      ...sizes,
      ...heads,
      Q: m.num_attention_heads * D,
      W: qkvWidth(m),
      B,
      T,
      embed_at: startOfGroup(layout, 'model.embed_tokens.weight'),
      head_at: startOfGroup(layout, m.tie_word_embeddings ? 'model.embed_tokens.weight' : 'lm_head.weight'),
      norm_at: first('input_layernorm.weight'),
      norm_stride: aligned(m.hidden_size),
      matrix_stride: layerStride(layout, 'qkv.weight'),
      qkv_at: first('qkv.weight'),
      out_at: first('self_attn.o_proj.weight'),
      gate_up_at: first('gate_up.weight'),
      down_at: first('mlp.down_proj.weight'),
      bias_at: m.attention_bias ? first('qkv.bias') : 0,
      bias_stride: layerStride(layout, 'qkv.bias'),
      cache_stride: cacheSlot(spec),
    },
    {
      ...heads,
      NARROW: m.hidden_size,
      WIDTH: threads(gpu),
      QUADS: gpu.software ? D / 4 : 1,
      WIDE: widest(m),
      BIAS: m.attention_bias ? 1 : 0,
      EPS: m.rms_norm_eps,
    },
  );
  return plan;
}
