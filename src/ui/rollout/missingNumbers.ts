import { FIELDS } from '../../config/fields.ts';
import { isMeasured } from '../../domain/batch.ts';
import { CHANNELS, type Channel, type ChannelView } from './channels.ts';

/** Why a channel has no number for any token of a batch, and what would give it one; null where it has. */
export function whyNotMeasured({ batch, config, opened }: ChannelView, channel: Channel): string | null {
  if (opened && CHANNELS[channel].over === 'rollout')
    return 'Not in this file: it takes the weights before and after the update. The lab shows it.';
  if (channel !== 'kl' && channel !== 'value') return null;
  const list = channel === 'kl' ? 'refLogprobs' : 'values';
  if (config && isMeasured({ batch, config }, list)) return null;
  if (!config || batch.unscored?.includes(list)) return 'Not recorded for this batch.';
  if (channel === 'kl') {
    const { klCoef, klRewardCoef } = FIELDS;
    return `Not computed: ${klCoef.label} and ${klRewardCoef.label} are 0, so nothing is compared with the reference. Set ${klCoef.label} above 0.`;
  }
  return `Not computed: ${config.estimator} uses no critic. Set ${FIELDS.estimator.label} to gae.`;
}
