import type { RunConfig } from '../config/fields.ts';
import { type AdapterConfig, type LinearName, LINEAR_NAMES } from './loraAdapters.ts';

const LINEARS_BY_TARGETS: Readonly<Record<RunConfig['adapterTargets'], readonly LinearName[]>> = {
  all: LINEAR_NAMES,
  attention: ['q_proj', 'k_proj', 'v_proj', 'o_proj'],
  mlp: ['gate_proj', 'up_proj', 'down_proj'],
};

export function adapterConfig({
  adapterRank: rank,
  adapterAlpha: alpha,
  adapterTargets,
}: Pick<RunConfig, 'adapterRank' | 'adapterAlpha' | 'adapterTargets'>): AdapterConfig {
  return { rank, alpha, targets: LINEARS_BY_TARGETS[adapterTargets] };
}
