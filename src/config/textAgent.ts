import type { RunConfig } from './fields.ts';

/** The text model that is shipped, made by `npm run textmodel`: a folder of Hugging Face's under public/. */
export const TEXT_AGENT = 'models/agent';

/** Its sizes where they are not the defaults: what an update of 64 rollouts takes some three seconds for on one CPU core. */
export const TEXT_AGENT_SIZES = { layers: 3, width: 96, ffn: 256 } as const satisfies Partial<RunConfig>;
