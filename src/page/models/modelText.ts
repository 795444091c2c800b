import type { ModelCard } from '../../domain/modelCard.ts';
import type { Listing } from '../../hub/listing.ts';
import { bytes } from '../words/numberText.ts';

/** Nominal bits per weight of each format. */
const BITS_PER_WEIGHT: Readonly<Record<string, number>> = {
  F32: 32,
  F16: 16,
  BF16: 16,
  Q8_0: 8,
  Q6_K: 6,
  Q5_1: 5,
  Q5_0: 5,
  Q4_1: 4,
  Q4_0: 4,
};

/** Text for the bits per weight of a checkpoint: “4-bit weights, as packaged”. */
export function weightsInWords({ weights }: ModelCard): string {
  const bits = BITS_PER_WEIGHT[weights[0]?.purpose ?? ''];
  return bits === undefined ? 'weights as packaged' : `${bits}-bit weights, as packaged`;
}

/** The formats of a checkpoint's weights, with the bytes of each. */
export function formatsInWords({ weights }: ModelCard): string {
  return weights.map(({ purpose, bytes: formatBytes }) => `${purpose} ${bytes(formatBytes)}`).join(', ');
}

export function templateInWords({ template }: ModelCard): string {
  if (template === 'none') return 'none: the model continues your text';
  return template === 'lists tools' ? 'yes, lists tools itself' : 'yes; tools are written into the system prompt';
}

/** Text for which files of a downloaded model were checked. The hub may give no checksum for some or all of them. */
export function checkedInWords({ files }: Pick<Listing, 'files'>): string {
  const unchecked = files.filter(({ sha256, gitSha1 }) => sha256 === null && gitSha1 === null).map(({ name }) => name);
  if (unchecked.length === 0) return 'checked';
  if (unchecked.length === files.length) return 'not checked: the hub gave no checksum';
  return `checked except ${unchecked.join(', ')}: the hub gave no checksum for ${unchecked.length > 1 ? 'them' : 'it'}`;
}
