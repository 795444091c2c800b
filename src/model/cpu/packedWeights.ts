import type { BlockFormat } from '../../formats/blocks/blockFormats.ts';
import { parameters, type ModelConfig } from '../architecture.ts';
import { storedTensor, widened, type StoredTensor, type WeightSource } from '../weightSource.ts';
import type { Arithmetic, PackedFormats } from './arithmetic.ts';
import { gatherRows } from './layers.ts';
import type { LayerTensors, Trunk } from './network.ts';
import type { Real } from './real.ts';
import type { Products } from './transformer.ts';

/**
 * One or several matrices with the same input, stacked by rows. Either unpacked numbers, or parts in the format of the
 * file.
 */
export type Matrix =
  | { readonly weights: Real; readonly parts: null } //
  | { readonly weights: null; readonly parts: readonly Part[] };
interface Part {
  readonly rows: number;
  readonly format: BlockFormat;
  readonly weights: Real; // the packed bytes, in the arithmetic's memory
  readonly bytes: Uint8Array; // a view of the same bytes
}

const F32_BYTES = 4;
/** Upper bound of the gap between two arrays, in numbers. */
const ARRAY_GAP = 8;

/** Whether all these matrices can stay packed: the arithmetic has a product for the format of each. */
const stayPacked = (packed: PackedFormats | undefined, tensors: readonly StoredTensor[]) =>
  packed !== undefined && tensors.every(({ format, shape }) => shape.length === 2 && packed.takes(format, shape[1]!));

/**
 * Returns the size of the weights of `source`, in numbers. Weights stay packed if `packed` has products for their
 * format.
 */
export function weightsSize(model: ModelConfig, source: WeightSource, packed: PackedFormats | undefined): number {
  const all = parameters(model);
  const unpackedGroups = new Set(
    all.filter(({ name }) => !stayPacked(packed, [storedTensor(source, name)])).map(({ group }) => group),
  );
  return all.reduce((sum, { name, size, group }) => {
    return (
      sum + ARRAY_GAP + (unpackedGroups.has(group) ? size : Math.ceil(storedTensor(source, name).bytes / F32_BYTES))
    );
  }, 0);
}

/**
 * Reads the weights of `source` into the memory of `arithmetic`, tensor by tensor. Throws ProblemError with file and
 * tensor.
 */
export async function loadTrunk(arithmetic: Arithmetic, source: WeightSource): Promise<Trunk<Matrix>> {
  const { model } = arithmetic;
  const numbers = (...names: readonly string[]) => readNumbers(arithmetic, names.map((name) => storedTensor(source, name))); // prettier-ignore
  const matrix = (...names: readonly string[]) => loadMatrix(arithmetic, names.map((name) => storedTensor(source, name))); // prettier-ignore
  const layers: LayerTensors<Matrix>[] = [];
  for (let i = 0; i < model.num_hidden_layers; i++) {
    const at = `model.layers.${i}`;
    const qkv = (suffix: string) => ['q', 'k', 'v'].map((part) => `${at}.self_attn.${part}_proj.${suffix}`);
    layers.push({
      inputNorm: await numbers(`${at}.input_layernorm.weight`),
      qkv: await matrix(...qkv('weight')),
      qkvBias: model.attention_bias ? await numbers(...qkv('bias')) : null,
      headNorms: model.qk_norm
        ? { q: await numbers(`${at}.self_attn.q_norm.weight`), k: await numbers(`${at}.self_attn.k_norm.weight`) }
        : null,
      output: await matrix(`${at}.self_attn.o_proj.weight`),
      postNorm: await numbers(`${at}.post_attention_layernorm.weight`),
      gateUp: await matrix(`${at}.mlp.gate_proj.weight`, `${at}.mlp.up_proj.weight`),
      down: await matrix(`${at}.mlp.down_proj.weight`),
    });
  }
  const embed = await matrix('model.embed_tokens.weight');
  const head = model.tie_word_embeddings ? embed : await matrix('lm_head.weight');
  return { embed, head, layers, norm: await numbers('model.norm.weight') };
}

/** Reads the tensors into one array of numbers, one after the other. */
async function readNumbers({ reals }: Arithmetic, tensors: readonly StoredTensor[]): Promise<Real> {
  const numbers = reals(tensors.reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0));
  let at = 0;
  for (const tensor of tensors) {
    const values = await widened(tensor);
    numbers.set(values, at);
    at += values.length;
  }
  return numbers;
}

async function loadMatrix(arithmetic: Arithmetic, tensors: readonly StoredTensor[]): Promise<Matrix> {
  if (!stayPacked(arithmetic.packed, tensors)) return { weights: await readNumbers(arithmetic, tensors), parts: null };
  const parts: Part[] = [];
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
  const inner = model.num_attention_heads * model.head_dim;
  return packed?.quantizedSize(tokens, Math.max(model.hidden_size, model.intermediate_size, inner)) ?? 0;
}

/** Returns the operations on the matrices of `loadTrunk`, for passes of up to `tokens` tokens. */
export function packedProducts(arithmetic: Arithmetic, tokens: number): Products<Matrix> {
  const { packed, matmulNT } = arithmetic;
  const quantized = arithmetic.reals(productScratchSize(arithmetic.model, packed, tokens));
  return {
    product: (y, x, { weights: unpacked, parts }, n, o, k) => {
      if (!packed || !parts) {
        if (unpacked) matmulNT(y, x, unpacked, n, o, k);
        return;
      }
      let column = 0;
      let isQuantized = false; // whether `quantized` already holds x, for all integer parts
      for (const { rows, format, weights } of parts) {
        const integers = packed.integers(format);
        if (integers && !isQuantized) packed.quantize(quantized, x, n, k);
        isQuantized ||= integers;
        packed.product(format, y, column, o, integers ? quantized : x, weights, n, rows, k);
        column += rows;
      }
    },
    rows: (out, { weights, parts }, ids, n, d) => {
      const part = parts?.[0];
      if (!part) {
        if (weights) gatherRows(out, weights, ids, n, d);
        return;
      }
      const { format, bytes } = part;
      const numbers = new Float32Array(d);
      const rowBytes = (d / format.weights) * format.bytes;
      for (let i = 0; i < n; i++) {
        format.widen(numbers, bytes.subarray(ids[i]! * rowBytes, (ids[i]! + 1) * rowBytes));
        out.set(numbers, i * d);
      }
    },
  };
}
