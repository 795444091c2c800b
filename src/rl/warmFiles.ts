import type { RunConfig } from '../config.ts';

/** Files of warm-start weights under `public/warm/`, made by `npm run warmstart`. */
export const SHIPPED_FILES: readonly string[] = [
  'number-hunt-16-d32-l2-h4-4-f96.safetensors',
  'multi-hop-12x3-2-d32-l2-h4-4-f96.safetensors',
];

/**
 * The name of the warm-start file that fits a configuration: everything that its vocabulary, its demonstrations and its
 * tensors depend on. Whether such a file is shipped, SHIPPED_FILES says.
 */
export function warmFile(config: RunConfig): string {
  const task =
    config.env === 'number-hunt'
      ? `${config.range}`
      : `${config.entities}x${config.relations}-${config.hops}${config.distractors > 0 ? `-noise${config.distractors}` : ''}`;
  const variants = [
    ...(config.think === 'on' ? ['think'] : []),
    ...(config.tieEmbeddings === 'off' ? ['untied'] : []),
    ...(config.attentionBias === 'on' ? ['bias'] : []),
  ];
  const model = `d${config.width}-l${config.layers}-h${config.heads}-${config.kvHeads}-f${config.ffn}`;
  return `${[config.env, task, model, ...variants].join('-')}.safetensors`;
}
