/**
 * The kernels of the WebGPU engine that exist more than once, in families that can be chosen apart. Barriers are cheap on
 * GPUs and very dear on software adapters, where loads are dear too: the broadcast kernels share them within subgroups of at
 * least that many lanes.
 */
export const KERNEL_FAMILIES = {
  products: ['barrier-free', 'workgroup', 'broadcast-4', 'broadcast-8'], // all matrix products; norms fused into them
  attention: ['barrier-free', 'workgroup', 'broadcast-4', 'broadcast-8'], // over whole rows
  reductions: ['barrier-free', 'workgroup'], // along a token's row: norms, scores of a token and their gradient
  sums: ['whole', 'slabs'], // over all tokens, for gradients of weights: in one piece, or in parts that are added after
  decoding: ['stepwise', 'persistent'], // a few dispatches a layer and token, or one for a whole chunk of tokens
} as const;

/** A family of kernels. */
export type KernelFamily = keyof typeof KERNEL_FAMILIES;

/** Which kernels a run uses: one variant of each family. */
export type KernelChoice = { readonly [F in KernelFamily]: (typeof KERNEL_FAMILIES)[F][number] };

/** The families in the order in which names list them. */
export const FAMILIES = Object.keys(KERNEL_FAMILIES) as readonly KernelFamily[];

/** Variants that can be asked for in every family of training kernels at once. */
const UNIFORM = KERNEL_FAMILIES.products;

/**
 * The choice that takes `variant` wherever a family of training kernels has it, does without barriers elsewhere, sums in one piece
 * and decodes stepwise.
 */
export function uniformChoice(variant: (typeof UNIFORM)[number]): KernelChoice {
  const reductions = variant === 'workgroup' ? variant : 'barrier-free';
  return { products: variant, attention: variant, reductions, sums: 'whole', decoding: 'stepwise' };
}

/** A choice as text: one variant where it is uniform, else those of the three families with + between; slabs and persistent decoding are added. */
export function nameOfChoice(choice: KernelChoice): string {
  const uniform = uniformChoice(choice.products);
  const { products, attention, reductions, sums, decoding } = choice;
  const same = attention === uniform.attention && reductions === uniform.reductions;
  const training = same ? [products] : [products, attention, reductions];
  const added = [...(sums === 'slabs' ? [sums] : []), ...(decoding === 'persistent' ? [decoding] : [])];
  return [...training, ...added].join('+');
}

/** The choice of that name, as `nameOfChoice` writes it. Throws RangeError for any other text. */
export function choiceNamed(name: string): KernelChoice {
  const known = findChoice(name);
  if (known) return known;
  const families = FAMILIES.map((family) => `${family} ${KERNEL_FAMILIES[family].join('|')}`).join(', ');
  throw new RangeError(`kernels: got ${name}; want one of ${UNIFORM.join(', ')}, or some with + between: ${families}.`);
}

/** The choice of that name; undefined for any other text. */
export function findChoice(name: string | undefined): KernelChoice | undefined {
  return everyChoice().find((choice) => nameOfChoice(choice) === name);
}

/** The choice of which these are the variants by family, whatever else is among them; undefined where that is none. */
export function choiceOf(variants: Readonly<Record<string, string>>): KernelChoice | undefined {
  return everyChoice().find((choice) => FAMILIES.every((family) => choice[family] === variants[family]));
}

/** All choices there are, whatever an adapter can run. */
function everyChoice(): KernelChoice[] {
  const { products, attention, reductions, sums, decoding } = KERNEL_FAMILIES;
  const ends = sums.flatMap((s) => decoding.map((d) => ({ sums: s, decoding: d })));
  return products.flatMap((p) =>
    attention.flatMap((a) =>
      reductions.flatMap((r) => ends.map((end) => ({ products: p, attention: a, reductions: r, ...end }))),
    ),
  );
}

/** What a tuner knows of one variant, from runs with the best variants so far of the other families. */
export interface TriedVariant {
  readonly family: KernelFamily;
  readonly variant: string;
  readonly ms: number | null; // least of a training step; null where it was not timed
  readonly error: number | null; // worst relative distance from the reference; null where it gave no numbers
  readonly refused: string; // why it is out, a sentence; '' where it is not
  readonly taken: boolean;
  readonly waits: number | null; // for a later run: how often time ran out on it; null once it was measured, or is out
}

/** Why a run uses its kernels: nothing is measured yet, a knob says so, a tuner measured them on this adapter, or the run began with them. */
export type ChoiceReason = 'default' | 'forced' | 'measured' | 'resumed';

/** The kernels of a run, why, and the measurements where there are some. */
export interface KernelReport {
  readonly choice: KernelChoice;
  readonly why: ChoiceReason;
  readonly tried: readonly TriedVariant[];
}
