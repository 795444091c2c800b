import { useState, type KeyboardEvent } from 'react';
import { useConfig } from '../../page/knobs/configStore.ts';
import { prefer } from '../../page/training/engine.ts';
import { shortNumber, percent } from '../../page/words/numberText.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { rolloutTokensOf, pairOf, type Pair } from '../../page/rollout/pairs.ts';
import { useSelection } from '../../page/view/selectionStore.ts';
import { Dialog } from '../parts/Dialog.tsx';
import type { EpisodeView } from '../../domain/episode.ts';
import { KINDS, STOP_TEXTS } from '../../page/rollout/kinds.ts';
import { readRollout, textOf } from '../../page/rollout/readRollout.ts';
import { SpanLabel } from '../parts/SpanLabel.tsx';
import type { MetricName } from '../../domain/metrics.ts';
import { ChartCard } from '../charts/ChartCard.tsx';
import { ChartSurface } from '../charts/ChartSurface.tsx';
import { valuesInWords } from '../../page/view/chartText.ts';
import type { Series } from '../../runs/series.ts';
import './preferences.css';

export function Preferences() {
  const [pairNumber, setPairNumber] = useState(0);
  const [message, setMessage] = useState('');
  // chosen once for each turn, because the pair must not change while it's being read
  const [pair, setPair] = useState<Pair | null>(() => pairOf(useLive.getState().batch, 0));
  const ready = useConfig((s) => s.applied?.rewardModel === 'on') && !useLive.getState().isExample;
  const close = () => useSelection.setState({ preferring: false });
  const showNextPair = (words: string) => {
    setMessage(words);
    setPairNumber(pairNumber + 1);
    setPair(pairOf(useLive.getState().batch, pairNumber + 1));
  };
  const choose = (side: 'A' | 'B') => {
    if (!pair || !ready) return;
    const [better, worse] = side === 'A' ? [pair.a, pair.b] : [pair.b, pair.a];
    prefer(rolloutTokensOf(pair.batch, better.row), rolloutTokensOf(pair.batch, worse.row));
    showNextPair(`Saved: ${side} is better. ${scoreWords(pair)}`.trim());
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.toLowerCase();
    if (key === 'a' || key === 'b') choose(key === 'a' ? 'A' : 'B');
    else if (key === 's' && ready) showNextPair('Skipped.');
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Which rollout is better?" className="preferences wide" onClose={close} onKeyDown={onKey}>
      <PairView pair={pair} />
      <div className="row pair-actions">
        <button type="button" disabled={!ready || !pair} onClick={() => choose('A')}>
          A is better <kbd translate="no">A</kbd>
        </button>
        <button type="button" disabled={!ready || !pair} onClick={() => choose('B')}>
          B is better <kbd translate="no">B</kbd>
        </button>
        <button type="button" className="quiet" disabled={!ready} onClick={() => showNextPair('Skipped.')}>
          Skip <kbd translate="no">S</kbd>
        </button>
        <span className="faint" role="status">
          {message}
        </span>
      </div>
      {!ready && <NotReady />}
      <PreferenceNumbers />
    </Dialog>
  );
}

function PairView({ pair }: { readonly pair: Pair | null }) {
  if (!pair) return <p className="empty">All rollouts of each prompt are identical: nothing to compare.</p>;
  return (
    <>
      <p className="strong">
        {useLive.getState().isExample && <span className="chip example">recording</span>} {pair.a.question}
      </p>
      <div className="pair grid gap-4">
        <RolloutCard side="A" pair={pair} episode={pair.a} />
        <RolloutCard side="B" pair={pair} episode={pair.b} />
      </div>
    </>
  );
}

/** The reward model's scores of both rollouts, shown after the choice. */
function scoreWords({ a, b }: Pair): string {
  if (a.preferenceScore === null || b.preferenceScore === null) return '';
  return `The reward model scored A ${shortNumber(a.preferenceScore)} and B ${shortNumber(b.preferenceScore)}.`;
}

function NotReady() {
  const wanted = useConfig((s) => s.wanted.rewardModel === 'on');
  const hasRun = useLive((s) => s.session === 'ready');
  return (
    <p className="note">
      {!wanted
        ? 'There is no reward model. Turn it on under Rewards, or choose the RLHF preset, then run.'
        : hasRun
          ? 'Restart the run to add the reward model. You can compare rollouts after its first update.'
          : 'Run training first: these rollouts are a recording.'}
    </p>
  );
}

interface RolloutCardProps {
  readonly side: 'A' | 'B';
  readonly pair: Pair;
  readonly episode: EpisodeView;
}

/** A rollout in short, without tags. Its reward and score stay hidden, because they would influence the choice. */
function RolloutCard({ side, pair, episode }: RolloutCardProps) {
  const rollout = readRollout(pair.batch, useLive.getState().vocabulary, episode.row);
  return (
    <section className="card attempt" aria-label={`Rollout ${side}`}>
      <h3>{side}</h3>
      <ol>
        {rollout.turns
          .filter(({ turn }) => turn > 0)
          .flatMap(({ turn, spans }) =>
            spans.map(({ kind, tokens }, i) => (
              <li key={`${turn} ${i}`} data-kind={kind}>
                <SpanLabel kindStyle={KINDS[kind]} />
                <span className="word" translate="no">
                  {textOf(
                    rollout,
                    tokens.filter((t) => !rollout.tags[t]),
                  )}
                </span>
              </li>
            )),
          )}
      </ol>
      <p className="faint">
        {STOP_TEXTS[episode.stop]} · {episode.toolCalls} tool calls
      </p>
    </section>
  );
}

const SHOWN_CURVES: readonly MetricName[] = ['reward_model/score', 'critic/score/mean', 'rollout/success'];

/** Training pairs, loss and agreement, and curves that show whether a higher score still means more tasks solved. */
function PreferenceNumbers() {
  const preferences = useLive((s) => s.preferences);
  useLive((s) => s.metricsVersion);
  const facts: readonly (readonly [string, string])[] = [
    ['pairs by the simulated labeller', String(preferences?.pairs ?? 0)],
    ['by you', String(preferences?.clicks ?? 0)],
    ['loss', shortNumber(preferences?.loss)],
    ['agreement', percent(preferences?.agreement ?? undefined)],
  ];
  return (
    <>
      {preferences && (
        <dl className="outcome" data-testid="preferences">
          {facts.map(([label, value]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      <ChartSurface
        className="charts preference-charts"
        label="these charts"
        valueText={(update) => valuesInWords(SHOWN_CURVES, update)}
      >
        {SHOWN_CURVES.map((metric) => (
          <ChartCard key={metric} metric={metric} />
        ))}
      </ChartSurface>
      <p className="hacking">{hackingSentence(useLive.getState().series)}</p>
      <details className="subgroup">
        <summary>
          <h3>RLHF and agent RL: what is the difference?</h3>
        </summary>
        <p>
          In RLHF a reward model of human preferences scores one answer. It learns from pairs (Bradley–Terry: the better
          one should score higher, by any amount), so only differences between its scores mean something. In agent RL
          the environment gives the reward: the number was found or not, over many turns, with tools and chance. Each
          can be gamed. An agent can please a reward model with anything its labellers like, which is why RLHF needs a
          KL to the reference. The simulated labeller here likes effort: it values a tool call even if it leads nowhere.
          Raise Preference reward, and watch the reward model’s score rise while success falls.
        </p>
      </details>
    </>
  );
}

const MIN_UPDATES = 10; // before a verdict
const MIN_SCORE_RISE = 0.25; // of the score's own range
const MIN_SUCCESS_CHANGE = 0.05; // of success

/** Says whether the agent pleases the reward model at the expense of the task, judging by the two curves alone. */
export function hackingSentence(series: ReadonlyMap<MetricName, Series>): string {
  const score = series.get('reward_model/score');
  const success = series.get('rollout/success');
  const [scoreBefore, scoreNow] = [score?.openingMean, score?.lastSmoothed];
  const [solvedBefore, solvedNow] = [success?.openingMean, success?.lastSmoothed];
  if (!score || scoreBefore === undefined || scoreNow === undefined || score.length < MIN_UPDATES) {
    return 'If the reward model’s score rises and success doesn’t, the agent pleases the reward model and not the task.';
  }
  if (solvedBefore === undefined || solvedNow === undefined) return '';
  const range = Math.max(...score.buckets.map((b) => b.max)) - Math.min(...score.buckets.map((b) => b.min));
  const rose = scoreNow - scoreBefore > MIN_SCORE_RISE * range && range > 0;
  const change = `The reward model’s score went from ${shortNumber(scoreBefore)} to ${shortNumber(scoreNow)}, success from ${percent(solvedBefore)} to ${percent(solvedNow)}`;
  if (rose && solvedNow < solvedBefore - MIN_SUCCESS_CHANGE)
    return `▲ ${change}: the agent pleases the reward model, not the task.`;
  if (rose && solvedNow > solvedBefore + MIN_SUCCESS_CHANGE) return `${change}: so far both rise together.`;
  return `${change}.`;
}
