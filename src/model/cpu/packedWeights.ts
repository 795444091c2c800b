import type { BlockFormat } from '../../formats/blocks/blockFormats.ts';
import { parameters, type ModelConfig } from '../architecture.ts';
import { storedTensor, widened, type StoredTensor, type WeightSource } from '../weightSource.ts';
import type { Arithmetic, PackedFormats } from './arithmetic.ts';
import { gatherRows } from './layers.ts';
import type { LayerTensors, Trunk } from './network.ts';
import type { Real } from './real.ts';
import type { Products } from './transformer.ts';

/** Matrices of one input, one below the other: as numbers, or each as its file packs it. */
export type Matrix =
  | { readonly weights: Real; readonly parts: null } //
  | { readonly weights: null; readonly parts: readonly Part[] };
interface Part {
  readonly rows: number;
  readonly format: BlockFormat;
  readonly weights: Real; // its bytes, in the arithmetic's memory
  readonly bytes: Uint8Array; // a view of them
}

const F32_BYTES = 4;
/** Numbers that may lie between two arrays. */
const MARGIN = 8;

/** Whether matrices side by side stay packed: the arithmetic has a product with the format of each. */
const stay = (packed: PackedFormats | undefined, tensors: readonly StoredTensor[]) =>
  packed !== undefined && tensors.every(({ format, shape }) => shape.length === 2 && packed.takes(format, shape[1]!));

/** How many numbers of `reals` the weights of `source` take, held packed where `packed` has products for that. */
export function weightsSize(model: ModelConfig, source: WeightSource, packed: PackedFormats | undefined): number {
  const all = parameters(model);
  const whole = new Set(
    all.filter(({ name }) => !stay(packed, [storedTensor(source, name)])).map(({ group }) => group),
  );
  return all.reduce((sum, { name, size, group }) => {
    return sum + MARGIN + (whole.has(group) ? size : Math.ceil(storedTensor(source, name).bytes / F32_BYTES));
  }, 0);
}

/** Reads the weights of `source` into the memory of `arithmetic`, tensor by tensor. Throws ProblemError, by file and tensor. */
export async function loadTrunk(arithmetic: Arithmetic, source: WeightSource): Promise<Trunk<Matrix>> {
  const { model } = arithmetic;
  const numbers = (...names: readonly string[]) => widenedInto(arithmetic, names.map((name) => storedTensor(source, name))); // prettier-ignore
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

/** The tensors one after the other, as numbers. */
async function widenedInto({ reals }: Arithmetic, tensors: readonly StoredTensor[]): Promise<Real> {
  const made = reals(tensors.reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0));
  let at = 0;
  for (const tensor of tensors) {
    const values = await widened(tensor);
    made.set(values, at);
    at += values.length;
  }
  return made;
}

async function loadMatrix(arithmetic: Arithmetic, tensors: readonly StoredTensor[]): Promise<Matrix> {
  if (!stay(arithmetic.packed, tensors)) return { weights: await widenedInto(arithmetic, tensors), parts: null };
  const parts: Part[] = [];
  for (const { shape, format, bytes, read } of tensors) {
    const weights = arithmetic.reals(Math.ceil(bytes / F32_BYTES));
    const view = new Uint8Array(weights.buffer, weights.byteOffset, bytes);
    await read(view);
    parts.push({ rows: shape[0]!, format, weights, bytes: view });
  }
  return { weights: null, parts };
}

/** How many numbers `packedProducts` takes for passes of up to `tokens` tokens. */
export function productRoom(model: ModelConfig, packed: PackedFormats | undefined, tokens: number): number {
  const inner = model.num_attention_heads * model.head_dim;
  return packed?.roomFor(tokens, Math.max(model.hidden_size, model.intermediate_size, inner)) ?? 0;
}

/** Products with matrices as `loadTrunk` left them, for passes of up to `tokens` tokens. */
export function packedProducts(arithmetic: Arithmetic, tokens: number): Products<Matrix> {
  const { packed, matmulNT } = arithmetic;
  const room = arithmetic.reals(productRoom(arithmetic.model, packed, tokens));
  return {
    product: (y, x, { weights: whole, parts }, n, o, k) => {
      if (!packed || !parts) {
        if (whole) matmulNT(y, x, whole, n, o, k);
        return;
      }
      let column = 0;
      let held = false; // x in 16 bits, for all parts
      for (const { rows, format, weights } of parts) {
        const integers = packed.integers(format);
        if (integers && !held) packed.quantize(room, x, n, k);
        held ||= integers;
        packed.product(format, y, column, o, integers ? room : x, weights, n, rows, k);
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
      const wide = new Float32Array(d);
      const rowBytes = (d / format.weights) * format.bytes;
      for (let i = 0; i < n; i++) {
        format.widen(wide, bytes.subarray(ids[i]! * rowBytes, (ids[i]! + 1) * rowBytes));
        out.set(wide, i * d);
      }
    },
  };
}
