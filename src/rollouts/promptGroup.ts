import { checksumOf } from '../base/checksum.ts';

/** A name for the group of a prompt, where a file does not say groups: rollouts of equal prompts in one step are taken to be one group. */
export function promptGroup(prompt: unknown): string {
  return `prompt ${checksumOf(prompt)}`;
}
