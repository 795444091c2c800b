import { DEFAULTS, type RunConfig } from './fields.ts';

/** The default scale of adapters: alpha over the rank. */
const USUAL_SCALE = DEFAULTS.adapterAlpha / DEFAULTS.adapterRank;

/**
 * What goes along with changes of `before`: alpha stays the usual multiple of the adapters' rank for as long as it is that, so another rank leaves the
 * scale alpha/rank alone; an alpha of a person's own stays.
 */
export function linkedKnobs(before: RunConfig, changes: Partial<RunConfig>): Partial<RunConfig> {
  const { adapterRank: rank, adapterAlpha: alpha } = changes;
  const usual = before.adapterAlpha === USUAL_SCALE * before.adapterRank;
  return rank !== undefined && alpha === undefined && usual ? { adapterAlpha: USUAL_SCALE * rank } : {};
}
