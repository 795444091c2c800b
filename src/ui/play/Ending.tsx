import { percent, short } from '../parts/numberText.ts';
import { STOPS } from '../rollout/kinds.ts';
import { Drawing, LEGENDS } from '../drawings/Drawing.tsx';
import { Icon } from '../parts/Icon.tsx';
import { RewardSplit } from '../rollout/RewardSplit.tsx';
import { REWARD_PARTS, type RewardPart } from '../../domain/episode.ts';
import type { PlayedEpisode } from '../../domain/playedTask.ts';
import { readTokens, textOf } from '../rollout/readRollout.ts';
import type { AgentRecord, Table } from './game.ts';

interface Props {
  readonly table: Table;
  readonly agent: AgentRecord | null;
}

/** How it ended, what the scripted expert would have done, and how the agent fared. */
export function Ending({ table: { vocabulary, played, expert }, agent }: Props) {
  if (played.stop === null) return null;
  return (
    <section className="ending" aria-label="How it ended">
      <div className="ending-words">
        <h3 className="line large" data-success={played.success} role="status">
          <Icon name={played.success ? 'check' : 'cross'} />
          {played.success ? 'Solved' : 'Not solved'}: {STOPS[played.stop]}, reward {short(played.reward)}
        </h3>
        <RewardSplit episode={{ parts: summed(played) }} />
        {expert && (
          <p>
            The scripted expert {expert.success ? 'solves it' : 'does not solve it either'}, reward{' '}
            {short(expert.reward)}: <span className="mono ink-call">{saidBy(expert, vocabulary)}</span>
          </p>
        )}
        {agent && (
          <p>
            The agent at update {agent.update} solved it in {agent.solved} of {agent.of} tries (
            {percent(agent.solved / agent.of)}), mean reward {short(agent.meanReward)}.
          </p>
        )}
      </div>
      <div className="ending-view">
        <Drawing view={played.view} turn={played.paid.length} group={[played.view]} />
        <p className="small faint">{LEGENDS[played.view.kind]}</p>
      </div>
    </section>
  );
}

function summed({ paid }: PlayedEpisode): Record<RewardPart, number> {
  const sum = (part: RewardPart) => paid.reduce((all, { parts }) => all + parts[part], 0);
  return Object.fromEntries(REWARD_PARTS.map((part) => [part, sum(part)])) as Record<RewardPart, number>;
}

/** What was said turn by turn, tags and observations left out. */
function saidBy(played: PlayedEpisode, vocabulary: readonly string[]): string {
  const rollout = readTokens(played, vocabulary);
  const { turns, tags } = rollout;
  return turns
    .filter(({ turn }) => turn > 0)
    .map(({ spans }) =>
      textOf(
        rollout,
        spans
          .filter(({ kind }) => kind === 'call' || kind === 'answer')
          .flatMap(({ tokens }) => tokens.filter((t) => !tags[t])),
      ),
    )
    .join(' → ');
}
