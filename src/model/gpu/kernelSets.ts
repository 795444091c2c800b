import type { Gpu } from '../../gpu/device.ts';
import {
  FAMILIES,
  KERNEL_FAMILIES,
  nameOfChoice,
  uniformChoice,
  type KernelChoice,
  type KernelFamily,
  type KernelReport,
} from '../../config/kernelChoice.ts';
import type { ModelConfig } from '../architecture.ts';
import { BackendError } from '../policy.ts';
import type { GpuPolicyOptions } from './options.ts';

/** The variants of each family that run on an adapter. */
export type VariantSets = { readonly [F in KernelFamily]: readonly KernelChoice[F][] };

/** Every variant of every family that runs on an adapter, if the model allows it: see decodeChoices. */
export function variantsFor({ lanes }: Pick<Gpu, 'lanes'>): VariantSets {
  const least: Partial<Record<KernelChoice[KernelFamily], number>> = { 'broadcast-4': 4, 'broadcast-8': 8 };
  const runs = (variant: KernelChoice[KernelFamily]) => lanes >= (least[variant] ?? 0);
  return {
    products: KERNEL_FAMILIES.products.filter(runs),
    attention: KERNEL_FAMILIES.attention.filter(runs),
    reductions: KERNEL_FAMILIES.reductions.filter(runs),
    sums: KERNEL_FAMILIES.sums,
    decoding: KERNEL_FAMILIES.decoding,
  };
}

/** With four lanes broadcasts are worth what they take to compile from this width on. */
const WIDE_ENOUGH = 64;

/** The choice for a model on an adapter on which nothing has been measured. */
export function defaultChoice(
  { software, lanes }: Pick<Gpu, 'software' | 'lanes'>,
  { hidden_size }: Pick<ModelConfig, 'hidden_size'>,
): KernelChoice {
  // many queries are parallel enough, the tiles of a small model's weights are not
  if (!software) return { ...uniformChoice('workgroup'), attention: 'barrier-free', sums: 'slabs' };
  if (lanes >= 8) return uniformChoice('broadcast-8');
  return uniformChoice(lanes >= 4 && hidden_size >= WIDE_ENOUGH ? 'broadcast-4' : 'barrier-free');
}

/** Whether an adapter runs every part of a choice. */
export function runs(gpu: Pick<Gpu, 'lanes'>, choice: KernelChoice): boolean {
  const sets: Readonly<Record<KernelFamily, readonly string[]>> = variantsFor(gpu);
  return FAMILIES.every((family) => sets[family].includes(choice[family]));
}

/** The kernels of a policy: those asked for, those its run began with, those measured on this adapter, or its default. Throws BackendError for ones it cannot run. */
export async function settleKernels(
  gpu: Gpu,
  model: Pick<ModelConfig, 'hidden_size'>,
  { kernels, resumed, tuned }: GpuPolicyOptions,
): Promise<KernelReport> {
  if (kernels && !runs(gpu, kernels)) {
    throw new BackendError(
      `Kernels ${nameOfChoice(kernels)} share loads among more threads than a subgroup has here: ${gpu.lanes}.`,
      'Set kernels to auto, safe, workgroup or barrier-free.',
      ['kernels'],
    );
  }
  if (kernels) return { choice: kernels, why: 'forced', tried: [] };
  if (resumed && runs(gpu, resumed)) return { choice: resumed, why: 'resumed', tried: [] };
  return (await tuned?.(gpu)) ?? { choice: defaultChoice(gpu, model), why: 'default', tried: [] };
}

/** Whether kernels broadcast, and WIDE, the constant that says among how many. */
export function broadcasts(variant: KernelChoice[KernelFamily]): { readonly WIDE: number } | null {
  if (variant === 'broadcast-8') return { WIDE: 1 };
  return variant === 'broadcast-4' ? { WIDE: 0 } : null;
}
