import type { RunConfig } from '../config/config.ts';
import { ENVIRONMENTS } from '../config/environments.ts';

/** Files of warm-start weights under `public/warm/`, made by `npm run warmstart`. */
export const SHIPPED_FILES: readonly string[] = [
  'number-hunt-16-d32-l2-h4-4-f96.safetensors',
  'multi-hop-12x3-2-d32-l2-h4-4-f96.safetensors',
  'document-search-top1-turns3-d32-l2-h4-4-f96.safetensors',
  'world-facts-12x3-2-d32-l2-h4-4-f96.safetensors',
  'calculator-2-d32-l2-h4-4-f96.safetensors',
  'countdown-2-d32-l2-h4-4-f96.safetensors',
];

/** Contains everything that vocabulary, demonstrations and tensors depend on. The file exists only if SHIPPED_FILES lists it. */
export function warmFile(config: RunConfig): string {
  const variants = [
    ...(config.think === 'on' ? ['think'] : []),
    ...(config.tieEmbeddings === 'off' ? ['untied'] : []),
    ...(config.attentionBias === 'on' ? ['bias'] : []),
  ];
  const model = `d${config.width}-l${config.layers}-h${config.heads}-${config.kvHeads}-f${config.ffn}`;
  return `${[ENVIRONMENTS[config.env].weightsName(config), model, ...variants].join('-')}.safetensors`;
}
