import type { BlockFormat } from '../../formats/blocks/blockFormats.ts';
import { parameters, type ModelConfig } from '../architecture.ts';
import { storedTensor, readFloat32, type StoredTensor, type WeightSource } from '../weightSource.ts';
import type { Arithmetic, PackedFormats } from './arithmetic.ts';
import { gatherRows } from './layers.ts';
import type { LayerTensors, ForwardTensors } from './network.ts';
import type { Real } from '../learning/real.ts';
import type { WeightOperations } from './transformer.ts';

/** Matrices with the same input, stacked by rows: either unpacked numbers, or parts in the format of the file. */
export type Matrix =
  | { readonly weights: Real; readonly parts: null } //
  | { readonly weights: null; readonly parts: readonly PackedPart[] };
interface PackedPart {
  readonly rows: number;
  readonly format: BlockFormat;
  readonly weights: Real; // the packed bytes, in the arithmetic's memory
  readonly bytes: Uint8Array; // a view of the same bytes
}

const F32_BYTES = 4;
/** Upper bound of the gap between two arrays, in numbers. */
const ARRAY_GAP = 8;

/** Whether all these matrices can stay packed: the arithmetic has a product for the format of each. */
const canAllStayPacked = (packed: PackedFormats | undefined, tensors: readonly StoredTensor[]) =>
  packed !== undefined &&
  tensors.every(({ format, shape }) => shape.length === 2 && packed.canStayPacked(format, shape[1]!));

/** In numbers. Weights stay packed if `packed` has products for their format. */
export function weightsSize(model: ModelConfig, source: WeightSource, packed: PackedFormats | undefined): number {
  const tensors = parameters(model);
  const unpackedGroups = new Set(
    tensors.filter(({ name }) => !canAllStayPacked(packed, [storedTensor(source, name)])).map(({ group }) => group),
  );
  return tensors.reduce((sum, { name, size, group }) => {
    return (
      sum + ARRAY_GAP + (unpackedGroups.has(group) ? size : Math.ceil(storedTensor(source, name).bytes / F32_BYTES))
    );
  }, 0);
}

/** Reads into the memory of `arithmetic`, tensor by tensor. Throws ProblemError with file and tensor. */
export async function loadForwardTensors(
  arithmetic: Arithmetic,
  source: WeightSource,
): Promise<ForwardTensors<Matrix>> {
  const { model } = arithmetic;
  const readFloatTensor = (...names: readonly string[]) => readFloats(arithmetic, names.map((name) => storedTensor(source, name))); // prettier-ignore
  const readMatrix = (...names: readonly string[]) => loadMatrix(arithmetic, names.map((name) => storedTensor(source, name))); // prettier-ignore
  const layers: LayerTensors<Matrix>[] = [];
  for (let i = 0; i < model.num_hidden_layers; i++) {
    const prefix = `model.layers.${i}`;
    const qkv = (suffix: string) => ['q', 'k', 'v'].map((part) => `${prefix}.self_attn.${part}_proj.${suffix}`);
    layers.push({
      inputNorm: await readFloatTensor(`${prefix}.input_layernorm.weight`),
      qkv: await readMatrix(...qkv('weight')),
      qkvBias: model.attention_bias ? await readFloatTensor(...qkv('bias')) : null,
      headNorms: model.qk_norm
        ? {
            q: await readFloatTensor(`${prefix}.self_attn.q_norm.weight`),
            k: await readFloatTensor(`${prefix}.self_attn.k_norm.weight`),
          }
        : null,
      output: await readMatrix(`${prefix}.self_attn.o_proj.weight`),
      postNorm: await readFloatTensor(`${prefix}.post_attention_layernorm.weight`),
      gateUp: await readMatrix(`${prefix}.mlp.gate_proj.weight`, `${prefix}.mlp.up_proj.weight`),
      down: await readMatrix(`${prefix}.mlp.down_proj.weight`),
    });
  }
  const embed = await readMatrix('model.embed_tokens.weight');
  const head = model.tie_word_embeddings ? embed : await readMatrix('lm_head.weight');
  return { embed, head, layers, norm: await readFloatTensor('model.norm.weight') };
}

async function readFloats({ reals }: Arithmetic, tensors: readonly StoredTensor[]): Promise<Real> {
  const floats = reals(tensors.reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0));
  let offset = 0;
  for (const tensor of tensors) {
    const values = await readFloat32(tensor);
    floats.set(values, offset);
    offset += values.length;
  }
  return floats;
}

async function loadMatrix(arithmetic: Arithmetic, tensors: readonly StoredTensor[]): Promise<Matrix> {
  if (!canAllStayPacked(arithmetic.packedKernels, tensors))
    return { weights: await readFloats(arithmetic, tensors), parts: null };
  const parts: PackedPart[] = [];
  for (const { shape, format, bytes, read } of tensors) {
    const weights = arithmetic.reals(Math.ceil(bytes / F32_BYTES));
    const view = new Uint8Array(weights.buffer, weights.byteOffset, bytes);
    await read(view);
    parts.push({ rows: shape[0]!, format, weights, bytes: view });
  }
  return { weights: null, parts };
}

/** Returns the size of the memory that `packedProducts` allocates for passes of up to `tokens` tokens, in numbers. */
export function productScratchSize(model: ModelConfig, packed: PackedFormats | undefined, tokens: number): number {
  const attentionWidth = model.num_attention_heads * model.head_dim;
  return packed?.quantizedSize(tokens, Math.max(model.hidden_size, model.intermediate_size, attentionWidth)) ?? 0;
}

/** Returns the operations on the matrices of `loadForwardTensors`, for passes of up to `tokens` tokens. */
export function packedProducts(arithmetic: Arithmetic, tokens: number): WeightOperations<Matrix> {
  const { packedKernels, matmulNT } = arithmetic;
  const quantized = arithmetic.reals(productScratchSize(arithmetic.model, packedKernels, tokens));
  return {
    product: (y, x, { weights: unpacked, parts }, n, o, k) => {
      if (!packedKernels || !parts) {
        if (unpacked) matmulNT(y, x, unpacked, n, o, k);
        return;
      }
      let column = 0;
      let isQuantized = false; // whether `quantized` already holds x, for all integer parts
      for (const { rows, format, weights } of parts) {
        const integers = packedKernels.hasIntegers(format);
        if (integers && !isQuantized) packedKernels.quantize(quantized, x, n, k);
        isQuantized ||= integers;
        packedKernels.product(format, y, column, o, integers ? quantized : x, weights, n, rows, k);
        column += rows;
      }
    },
    gatherRows: (out, { weights, parts }, ids, n, d) => {
      const part = parts?.[0];
      if (!part) {
        if (weights) gatherRows(out, weights, ids, n, d);
        return;
      }
      const { format, bytes } = part;
      const numbers = new Float32Array(d);
      const rowBytes = (d / format.blockWeights) * format.blockBytes;
      for (let i = 0; i < n; i++) {
        format.toFloat32(numbers, bytes.subarray(ids[i]! * rowBytes, (ids[i]! + 1) * rowBytes));
        out.set(numbers, i * d);
      }
    },
  };
}
