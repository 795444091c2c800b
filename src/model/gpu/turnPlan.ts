import type { Gpu } from '../../gpu/device.ts';
import * as kernels from '../../gpu/kernels/index.ts';
import { Plan, type Recorder } from '../../gpu/plan.ts';
import { scalarBytes, type ScalarType } from '../../gpu/tensor.ts';
import { parameterCount, type ModelConfig } from '../architecture.ts';
import type { PolicySpec } from '../policy.ts';
import { qkvWidth } from './activations.ts';
import type { DeviceBatch } from './deviceBatch.ts';
import { cacheSlot } from './decodeAttention.ts';
import { MAX_STEPS, type DecoderTensors } from './decoderTensors.ts';
import type { AgentNetwork } from './agentNetwork.ts';
import type { KernelVariants } from './kernelSets.ts';
import { layerStride, startOfGroup } from './networkTensors.ts';

/** Threads that share an element of a product: together they load 64 bytes of a weight's row. */
const LANES = 4;
/** Threads of a row. In software each of them waits at a barrier, one after the other, so there they are few. */
const WIDTH = { hardware: 256, software: 16 };
/**
 * Bytes of weights that all rows together load for one token, at most. A slow GPU's cache delivers them in about a
 * millisecond, the time of the dispatches that a turn saves (predicted, not measured).
 */
const MAX_LOADED_BYTES = 128 * 1024 * 1024;
/**
 * llvmpipe ends all loops of a thread after 65,535 iterations, without an error. A thread loads four weights in each, so
 * in software the tokens of a dispatch and the parameters are few.
 */
const SOFTWARE = { span: 4, parameters: 500_000 };

/** Sizes of decode_turn's arrays in workgroup memory, in scalars. */
function workgroupArrays({ model: m, length: T }: Pick<PolicySpec, 'model' | 'length'>) {
  const Q = m.num_attention_heads * m.head_dim;
  const columns = Math.max(qkvWidth(m), m.hidden_size, 2 * m.intermediate_size, m.vocab_size);
  return {
    C: m.hidden_size,
    INPUTS: Math.max(m.hidden_size, Q, m.intermediate_size),
    LOGITS: Math.max(Q, m.vocab_size),
    PARTS: Math.max(LANES * columns, m.num_attention_heads * T, 2 * m.vocab_size),
  };
}

/** Workgroup memory of decode_turn: its arrays, each rounded up to 16 bytes, and one vec4. */
export function turnBytes(spec: Pick<PolicySpec, 'model' | 'length'>): number {
  return 16 * Object.values(workgroupArrays(spec)).reduce((sum, scalars) => sum + Math.ceil(scalars / 4), 1);
}

/**
 * Whether rows are drawn by decode_turn, a turn in one dispatch: on hardware, where the model is small enough. On a
 * software adapter a barrier takes longer than a dispatch, so there only the kernels with tiles do it, which tests choose.
 */
export function drawsTurns(
  { device, software }: Pick<Gpu, 'device' | 'software'>,
  { reductions }: KernelVariants,
  spec: Pick<PolicySpec, 'model' | 'rows' | 'length'>,
  storage: ScalarType,
): boolean {
  const parameters = parameterCount(spec.model);
  const { hidden_size: C, intermediate_size: F, num_attention_heads: H, head_dim: D } = spec.model;
  return (
    (!software || (reductions === 'tiles' && parameters <= SOFTWARE.parameters)) &&
    !spec.model.qk_norm &&
    [C, F, H * D].every((size) => size % 4 === 0) &&
    spec.rows * parameters * scalarBytes(storage) <= MAX_LOADED_BYTES &&
    turnBytes(spec) <= device.limits.maxComputeWorkgroupStorageSize
  );
}

/** Tokens by which a dispatch of decode_turn moves a row on, at most. */
export function turnSpan({ software }: Pick<Gpu, 'software'>): number {
  return software ? SOFTWARE.span : MAX_STEPS;
}

/** Records the dispatch that moves all rows on by up to `turnSpan` tokens. */
export function recordTurn(
  recorder: Recorder,
  network: AgentNetwork,
  spec: PolicySpec,
  batch: DeviceBatch,
  { cache, rowStates, drawn, settings }: DecoderTensors,
): Plan {
  const { rows: B, length: T, model: m } = spec;
  const { layout, weights } = network;
  const plan = new Plan(recorder, 'decode turn');
  const first = (name: string) => startOfGroup(layout, `model.layers.0.${name}`);
  const bias = m.attention_bias;
  plan.dispatch(
    kernels.decodeTurn,
    {
      weights,
      table: network.rotaryTable,
      grammar: batch.grammar,
      cache,
      state: rowStates,
      record: batch.record,
      drawn,
      settings,
    },
    {
      ...{ N: B, B, T, L: m.num_hidden_layers, span: turnSpan(recorder.gpu) },
      table_at: startOfGroup(layout, 'model.embed_tokens.weight'),
      qkv_at: first('qkv.weight'),
      out_at: first('self_attn.o_proj.weight'),
      gate_up_at: first('gate_up.weight'),
      down_at: first('mlp.down_proj.weight'),
      matrices: layerStride(layout, 'qkv.weight'),
      bias_at: bias ? first('qkv.bias') : 0,
      biases: bias ? layerStride(layout, 'qkv.bias') : 0,
      norm_at: first('input_layernorm.weight'),
      middle_at: first('post_attention_layernorm.weight'),
      norms: layerStride(layout, 'input_layernorm.weight'),
      final_at: startOfGroup(layout, 'model.norm.weight'),
      head_at: startOfGroup(layout, network.languageHead.names[0]!),
      caches: cacheSlot(spec),
      ...costs(m),
    },
    {
      ...workgroupArrays(spec),
      ...{ F: m.intermediate_size, V: m.vocab_size, EPS: m.rms_norm_eps, BIAS: bias ? 1 : 0, LANES },
      WIDTH: recorder.gpu.software ? WIDTH.software : WIDTH.hardware,
      ...{ H: m.num_attention_heads, G: m.num_key_value_heads, D: m.head_dim },
    },
  );
  return plan;
}

/** Sizes by which decode_turn's work is counted. */
function costs(m: ModelConfig) {
  const table = m.tie_word_embeddings ? 0 : m.vocab_size * m.hidden_size;
  const E = m.num_key_value_heads * m.head_dim;
  return { P: parameterCount(m) - table, Q: m.num_attention_heads * m.head_dim, E };
}
