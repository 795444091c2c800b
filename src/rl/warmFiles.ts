import type { RunConfig } from '../config/config.ts';

/** Files of warm-start weights under `public/warm/`, made by `npm run warmstart`. */
export const SHIPPED_FILES: readonly string[] = [
  'number-hunt-16-d32-l2-h4-4-f96.safetensors',
  'multi-hop-12x3-2-d32-l2-h4-4-f96.safetensors',
  'document-search-top1-turns3-d32-l2-h4-4-f96.safetensors',
  'world-facts-12x3-2-d32-l2-h4-4-f96.safetensors',
  'calculator-2-d32-l2-h4-4-f96.safetensors',
  'countdown-2-d32-l2-h4-4-f96.safetensors',
];

// Searches over graphs differ in their shape alone.
function searchTasks({ entities, relations, hops, distractors, retriever }: RunConfig): string {
  const noise = distractors > 0 ? `-noise${distractors}` : '';
  return `${entities}x${relations}-${hops}${noise}${retriever === 'agent' ? '' : `-rag-${retriever}`}`;
}

// slot words fit any facts; words of their own fit those they were made for
function factTasks(config: RunConfig): string {
  return `${searchTasks(config)}${config.names === 'own' ? '-own' : ''}`;
}

// What tells the tasks of one environment apart: all that its vocabulary and its demonstrations depend on.
const TASKS: Readonly<Record<RunConfig['env'], (config: RunConfig) => string>> = {
  'number-hunt': ({ range }) => `${range}`,
  'multi-hop': searchTasks,
  'frozen-lake': ({ size, slip, ends, sight, maxTurns }) =>
    `${size}-slip${slip}-turns${maxTurns}${ends === 'corners' ? '-corners' : ''}${sight === 'name' ? '-name' : ''}`,
  bandit: () => 'arms',
  'bandit-reversed': () => 'arms',
  calculator: ({ hops }) => `${hops}`,
  countdown: ({ hops }) => `${hops + 1}`,
  'document-search': ({ topPassages, maxTurns }) => `top${topPassages}-turns${maxTurns}`,
  'world-facts': factTasks,
  'your-facts': factTasks,
  sokoban: ({ size, maxTurns }) => `${size}-turns${maxTurns}`,
};

/**
 * The name of the warm-start file that fits a configuration: everything that its vocabulary, its demonstrations and its
 * tensors depend on. Whether such a file is shipped, SHIPPED_FILES says.
 */
export function warmFile(config: RunConfig): string {
  const variants = [
    ...(config.think === 'on' ? ['think'] : []),
    ...(config.tieEmbeddings === 'off' ? ['untied'] : []),
    ...(config.attentionBias === 'on' ? ['bias'] : []),
  ];
  const model = `d${config.width}-l${config.layers}-h${config.heads}-${config.kvHeads}-f${config.ffn}`;
  const env = config.env === 'your-facts' && config.names === 'slots' ? 'world-facts' : config.env;
  return `${[env, TASKS[config.env](config), model, ...variants].join('-')}.safetensors`;
}
