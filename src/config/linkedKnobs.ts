import { DEFAULTS, type RunConfig } from './fields.ts';

/** The default scale of adapters: alpha over the rank. */
const DEFAULT_SCALE = DEFAULTS.adapterAlpha / DEFAULTS.adapterRank;

/** If alpha is the default multiple of the adapter rank, it follows a new rank and keeps the scale alpha/rank. A chosen alpha stays. */
export function linkedKnobs(before: RunConfig, changes: Partial<RunConfig>): Partial<RunConfig> {
  const { adapterRank: rank, adapterAlpha: alpha } = changes;
  const hasDefaultScale = before.adapterAlpha === DEFAULT_SCALE * before.adapterRank;
  return rank !== undefined && alpha === undefined && hasDefaultScale ? { adapterAlpha: DEFAULT_SCALE * rank } : {};
}
