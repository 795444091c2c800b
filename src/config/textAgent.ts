import type { RunConfig } from './fields.ts';

/** The text model that is shipped, made by `npm run textmodel`: a folder of Hugging Face's under public/. */
export const TEXT_AGENT = 'models/agent';

/** Its sizes: what an update of three turns a rollout takes some seconds for on one CPU core. */
export const TEXT_AGENT_SIZES = {
  layers: 3,
  width: 96,
  heads: 4,
  kvHeads: 4,
  ffn: 256,
  tieEmbeddings: 'on',
  attentionBias: 'off',
} as const satisfies Partial<RunConfig>;
