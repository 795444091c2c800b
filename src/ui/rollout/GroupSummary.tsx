import type { RunConfig } from '../../config/fields.ts';
import type { EpisodeView } from '../../domain/episode.ts';
import { writtenAdvantage } from './advantage.ts';
import { useConfig } from '../knobs/configStore.ts';
import { exact, short, signed } from '../parts/numberText.ts';
import { live } from '../run/liveStore.ts';
import { groupStats } from './readRollout.ts';
import { usesGroups, whitens } from '../../config/estimators.ts';

interface Props {
  readonly members: readonly EpisodeView[];
  readonly chosen: EpisodeView | undefined;
  readonly kept: boolean;
}

/** Mean, spread and, where rollouts are compared, the advantage written out, with digits enough to work it out again. */
export function GroupSummary({ members, chosen, kept }: Props) {
  const applied = useConfig((s) => s.applied ?? s.wanted);
  const config = live.batchConfig ?? applied;
  const rewards = members.map((e) => e.reward);
  const { mean, std } = groupStats(rewards);
  const out = !kept && (
    <span className="chip filtered" title="The group filter dropped this prompt from the update">
      not trained (filtered)
    </span>
  );
  if (members.length === 0) return null;
  if (members.length > 1 && std < 1e-6) {
    return (
      <p className="soft group-sum" data-line={usesGroups(config.estimator)}>
        All {members.length} scored {short(mean)}
        {usesGroups(config.estimator) && kept && <b> → advantage 0: this group teaches nothing</b>} {out}
      </p>
    );
  }
  return (
    <p
      className="soft group-sum"
      data-line={usesGroups(config.estimator)}
      title="Standard deviation with n − 1; ε is 1e-6"
    >
      mean <b>{short(mean)}</b> · std <b>{short(std)}</b> {out}
      {chosen && kept && <Formula {...{ config, rewards }} reward={chosen.reward} />}
    </p>
  );
}

interface FormulaProps {
  readonly config: RunConfig;
  readonly rewards: readonly number[];
  readonly reward: number;
}

function Formula({ config, rewards, reward }: FormulaProps) {
  const written = writtenAdvantage(config, rewards, reward);
  if (!written) return null;
  const { baseline, spread, value } = written;
  return (
    <span className="formula">
      A = ({exact(reward)} − {exact(baseline)}){spread !== null && ` / ${exact(spread)}`} = <b>{signed(value)}</b>
      {whitens(config) && ', then whitened'}
    </span>
  );
}
