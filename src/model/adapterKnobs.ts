import type { RunConfig } from '../config/fields.ts';
import { type AdapterConfig, type Linear, LINEARS } from './loraAdapters.ts';

const TARGET_LAYERS: Readonly<Record<RunConfig['adapterTargets'], readonly Linear[]>> = {
  all: LINEARS,
  attention: ['q_proj', 'k_proj', 'v_proj', 'o_proj'],
  mlp: ['gate_proj', 'up_proj', 'down_proj'],
};

/** The adapters of a run configuration. */
export function adapterConfig({
  adapterRank: rank,
  adapterAlpha: alpha,
  adapterTargets,
}: Pick<RunConfig, 'adapterRank' | 'adapterAlpha' | 'adapterTargets'>): AdapterConfig {
  return { rank, alpha, targets: TARGET_LAYERS[adapterTargets] };
}
