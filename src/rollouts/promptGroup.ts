import { checksumOf } from '../base/checksum.ts';

/**
 * A group name made from a prompt, for files without groups: rollouts of one step with equal prompts are assumed to be
 * one group.
 */
export function promptGroup(prompt: unknown): string {
  return `prompt ${checksumOf(prompt)}`;
}
