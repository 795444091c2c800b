import { useCallback, useMemo } from 'react';
import type { Voice } from '../../domain/taskForm.ts';
import { RewardChip } from '../parts/RewardChip.tsx';
import { type Kind, Role } from '../../domain/tokens.ts';
import { Drawing } from '../drawings/Drawing.tsx';
import { Icon } from '../parts/Icon.tsx';
import { paid, short } from '../parts/numberText.ts';
import { KINDS, STOPS } from '../rollout/kinds.ts';
import { RewardSplit } from '../rollout/RewardSplit.tsx';
import { turnsUpTo } from '../rollout/readRollout.ts';
import type { Turn } from '../../domain/tokenSpans.ts';
import { type Look, onceEach } from '../rollout/tokenLook.ts';
import { type TokenAnnotations, TokenView } from '../rollout/TokenView.tsx';
import { useLive } from '../run/liveStore.ts';
import { type SpokenTurn, shownUpTo, useTalk } from './talkStore.ts';

interface Props {
  readonly voice: Voice;
  readonly said: SpokenTurn;
}

/** What one voice says of a task, as far as it is shown: turn by turn, tools as they answer. */
export function VoiceColumn({ voice, said }: Props) {
  const shown = useTalk((s) => s.shown);
  const imitates = useLive((s) => s.losses.length > 0);
  const standing = useLive((s) => s.update);
  const { source, rollout, update, judged } = said;
  const [episode] = source.batch.episodes;
  const upTo = shownUpTo(said, shown);
  const over = upTo === rollout.words.length;
  const turns = useMemo(() => turnsUpTo(rollout.turns, upTo), [rollout, upTo]);
  const looked = useTalk((s) => (s.looked?.voice === voice ? s.looked.t : null));
  const looks = useMemo(() => {
    const look = spokenLook(said);
    return () => look;
  }, [said]);
  const around = useMemo(() => paidTurns(said), [said]);
  const select = useCallback(
    (t: number | null) => useTalk.setState(t === null ? { looked: null } : { looked: { voice, t }, flowing: false }),
    [voice],
  );
  if (!episode) return null;
  const title =
    update > 0
      ? `${standing > update ? 'Asked after' : 'Now, after'} update ${update}`
      : voice === 'now' && imitates
        ? 'Now, after the warm start only'
        : 'Before training';
  return (
    <article className="card voice" aria-label={title} data-voice={voice} data-over={over}>
      <header className="row between">
        <h3>{title}</h3>
        {over && <Verdict {...{ success: episode.success, judged, reward: episode.reward }} />}
      </header>
      <p className="strong">{episode.question}</p>
      <TokenView
        {...{ turns, around, looks, select }}
        className="transcript"
        setting={rollout.writing}
        channel={null}
        label="Words; arrow keys move"
        selected={looked}
      />
      {!over && <p className="small faint">{waiting(turns.at(-1))}</p>}
      {over && (
        <footer>
          <p className="small soft">
            {STOPS[episode.stop]} · {episode.toolCalls} tool calls · {episode.invalidTurns} malformed
          </p>
          {judged && <RewardSplit episode={episode} />}
        </footer>
      )}
      <div className="voice-env">
        <Drawing view={episode.view} turn={turns.at(-1)?.turn ?? 0} group={[episode.view]} />
      </div>
    </article>
  );
}

function Verdict({
  success,
  judged,
  reward,
}: {
  readonly success: boolean;
  readonly judged: boolean;
  readonly reward: number;
}) {
  if (!judged) return <span className="small faint">the environment doesn’t know the right answer</span>;
  return (
    <span className="line small voice-verdict" data-success={success}>
      <Icon name={success ? 'check' : 'cross'} /> {success ? 'solved' : 'not solved'}, reward {short(reward)}
    </span>
  );
}

function waiting(turn: Turn<Kind> | undefined): string {
  return turn?.spans.at(-1)?.kind === 'observation' ? 'The tool has answered.' : 'The agent is writing.';
}

/** Words as they were said; the agent's own can be looked at. */
function spokenLook({ source: { batch }, rollout, taken }: SpokenTurn): Look {
  return onceEach((t) => {
    const kind = rollout.kinds[t] ?? 'prompt';
    const word = rollout.words[t] ?? '';
    const look = { word, kind, tag: rollout.tags[t] ?? false };
    if (batch.roles[t] !== Role.action) return look;
    const probability = short(Math.exp(batch.sampledLogprobs[t] ?? 0));
    const name = `${word}, ${KINDS[kind].label}, probability ${probability}`;
    return { ...look, name, chosen: taken?.position === t };
  });
}

/** What each turn was paid, where the environment knows what is right. */
function paidTurns({ source: { batch }, judged }: SpokenTurn): TokenAnnotations {
  return {
    heading: 'h4',
    chip: ({ spans }) => {
      const tokens = spans.flatMap((span) => span.tokens);
      const reward = tokens.reduce((sum, t) => sum + (batch.rewards[t] ?? 0), 0);
      return judged && reward !== 0 && <RewardChip amount={reward}>{paid(reward)}</RewardChip>;
    },
  };
}
