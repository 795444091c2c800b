import type { Voice } from '../../domain/taskForm.ts';
import { RewardChip } from '../parts/RewardChip.tsx';
import { type Kind, Role } from '../../domain/tokens.ts';
import { Drawing } from '../drawings/Drawing.tsx';
import { Icon } from '../parts/Icon.tsx';
import { paid, short } from '../parts/numberText.ts';
import { KINDS, STOPS } from '../rollout/kinds.ts';
import { RewardSplit } from '../rollout/RewardSplit.tsx';
import { turnsUpTo } from '../rollout/readRollout.ts';
import type { Span, Turn } from '../../domain/tokenSpans.ts';
import { SpanLabel } from '../rollout/SpanLabel.tsx';
import { SpanTokens } from '../rollout/SpanTokens.tsx';
import { useFold } from '../rollout/useFold.tsx';
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
  const turns = turnsUpTo(rollout.turns, upTo);
  if (!episode) return null;
  const title =
    update > 0
      ? `${standing > update ? 'Asked after' : 'Now, after'} update ${update}`
      : voice === 'now' && imitates
        ? 'Now, after warm-up only'
        : 'Before training';
  return (
    <article className="card voice" aria-label={title} data-voice={voice} data-over={over}>
      <header className="row between">
        <h3>{title}</h3>
        {over && <Verdict {...{ success: episode.success, judged, reward: episode.reward }} />}
      </header>
      <p className="strong">{episode.question}</p>
      <ol className="transcript">
        {turns.map((turn) => (
          <TurnLine key={turn.turn} {...{ turn, said, voice }} />
        ))}
      </ol>
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

interface TurnProps extends Props {
  readonly turn: Turn<Kind>;
}

function TurnLine({ turn: { turn, spans }, said, voice }: TurnProps) {
  const { batch } = said.source;
  const tokens = spans.flatMap((span) => span.tokens);
  const reward = tokens.reduce((sum, t) => sum + (batch.rewards[t] ?? 0), 0);
  return (
    <li className="turn">
      <div className="turn-title">
        <h4>{turn === 0 ? 'Prompt' : `Turn ${turn}`}</h4>
        {said.judged && reward !== 0 && <RewardChip amount={reward}>{paid(reward)}</RewardChip>}
      </div>
      <div className="turn-spans">
        {spans.map((span, i) => (
          <SpanLine key={i} {...{ span, said, voice }} />
        ))}
      </div>
    </li>
  );
}

function SpanLine({ span, said, voice }: Props & { readonly span: Span<Kind> }) {
  const { shown, fold } = useFold(span, said.rollout.writing);
  return (
    <div className="span" data-kind={span.kind}>
      <SpanLabel of={KINDS[span.kind]} />
      <SpanTokens writing={said.rollout.writing}>
        {shown.map((t) => (
          <Word key={t} {...{ t, said, voice }} />
        ))}
        {fold}
      </SpanTokens>
    </div>
  );
}

/** A word; the agent's own can be looked at, and the surer it was the darker it is. */
function Word({ t, said: { source, rollout, taken }, voice }: Props & { readonly t: number }) {
  const looked = useTalk((s) => s.looked?.voice === voice && s.looked.t === t);
  const { batch } = source;
  const kind = rollout.kinds[t] ?? 'prompt';
  const word = rollout.words[t] ?? '';
  if (batch.roles[t] !== Role.action) {
    return (
      <span className="token" data-kind={kind} data-tag={rollout.tags[t]}>
        <span className="word">{word}</span>
      </span>
    );
  }
  const probability = Math.exp(batch.sampledLogprobs[t] ?? 0);
  return (
    <button
      type="button"
      className="token"
      data-kind={kind}
      data-tag={rollout.tags[t]}
      data-chosen={taken?.position === t}
      aria-pressed={looked}
      aria-label={`${word}, ${KINDS[kind].label}, probability ${short(probability)}`}
      onClick={() => useTalk.setState({ looked: { voice, t }, flowing: false })}
    >
      <span className="word">{word}</span>
    </button>
  );
}
