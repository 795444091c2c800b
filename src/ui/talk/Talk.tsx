import { useEffect, type SubmitEvent, useCallback, useMemo } from 'react';
import { VOICES, type Voice } from '../../domain/taskForm.ts';
import { Role, type Kind } from '../../domain/tokens.ts';
import { Icon } from '../parts/Icon.tsx';
import { RunDistribution } from '../tokens/RunDistribution.tsx';
import { cancelStart, start } from '../../page/training/engine.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { Header } from '../frame/Header.tsx';
import { StatusLine } from '../frame/StatusLine.tsx';
import {
  continueFrom,
  regenerate,
  type TalkAnswer,
  agentTokenCount,
  beginTalk,
  turnEnd,
  useTalk,
  runSampling,
  anotherTask,
  ask,
  shownUpTo,
} from '../../page/training/talkStore.ts';
import { SamplingKnobs } from '../parts/SamplingKnobs.tsx';
import { EVALUATION_WORDS, evaluationSetOf } from '../../domain/evaluationSet.ts';
import { percent, signedReward, shortNumber, rewardNumber } from '../../page/words/numberText.ts';
import { distinctTasks } from '../../page/words/runSummary.ts';
import { ByWordsOrNumber, TaskBlanks, TaskNumber } from '../parts/TaskChoice.tsx';
import { RewardChip } from '../parts/RewardChip.tsx';
import { Drawing } from '../drawings/Drawing.tsx';
import { KINDS, STOP_TEXTS } from '../../page/rollout/kinds.ts';
import { RewardSplit } from '../parts/RewardSplit.tsx';
import { turnsUpTo } from '../../page/rollout/readRollout.ts';
import type { Turn } from '../../domain/tokenSpans.ts';
import { type Look, memoizedLook } from '../../page/rollout/tokenLook.ts';
import { type TokenAnnotations, TokenView } from '../tokens/TokenView.tsx';
import './talk.css';

const TOKEN_MS = 140; // time between two tokens during playback

/** The untrained and the current agent play the task side by side. Nothing learns from it. */
export function Talk() {
  const session = useLive((s) => s.session);
  const run = useLive((s) => s.run);
  const { answers, problem } = useTalk();
  useEffect(() => {
    if (session === 'ready') void beginTalk(run);
  }, [session, run]);
  usePlayback();
  const voices = VOICES.flatMap((voice) => {
    const answer = answers[voice];
    return answer ? [{ voice, answer }] : [];
  });
  return (
    <>
      <Header />
      <main className="talk screen pane" data-pane="watch">
        <div className="talk-ask">
          <h2>Talk to the agent</h2>
          {session === 'ready' ? (
            <>
              <TaskForm />
              <VoiceSampling />
            </>
          ) : (
            <NotLoaded starting={session === 'starting'} />
          )}
          {problem && (
            <p className="note bad" role="alert">
              {problem}
            </p>
          )}
          <p className="small faint">
            Talking never trains the agent. After training, the untrained and the trained agent can answer side by side.
            Both get the same random draws, so any difference comes from training.
          </p>
        </div>
        {voices.length > 0 && (
          <div className="talk-answers">
            <PlaybackButtons answers={voices.map(({ answer }) => answer)} />
            <div className="talk-voices grid gap-4" data-voices={voices.length}>
              {voices.map(({ voice, answer }) => (
                <VoiceColumn key={voice} voice={voice} answer={answer} />
              ))}
            </div>
            <EvaluationChange />
          </div>
        )}
        {voices.length > 0 && <SelectedWord />}
        {voices.length === 0 && session === 'ready' && <Empty />}
      </main>
      <StatusLine />
    </>
  );
}

function NotLoaded({ starting }: { readonly starting: boolean }) {
  return (
    <div className="card talk-form">
      <p>The agent is not loaded yet. Loading doesn’t train it: you talk to it as it is before training.</p>
      <button type="button" className="primary" disabled={starting} onClick={() => start(false)}>
        <Icon name="live" /> {starting ? 'The agent is loading …' : 'Load the agent'}
      </button>
      {starting && (
        <button type="button" onClick={cancelStart}>
          Cancel
        </button>
      )}
    </div>
  );
}

function Empty() {
  return (
    <p className="empty talk-answers">
      Ask something. The agent plays the task with its tools, word by word, and you can inspect the alternatives to each
      word.
    </p>
  );
}

function PlaybackButtons({ answers }: { readonly answers: readonly TalkAnswer[] }) {
  const { shownTokens, playing, asking } = useTalk();
  const all = Math.max(...answers.map(agentTokenCount));
  const show = (tokens: number) => useTalk.setState({ shownTokens: Math.min(all, tokens), playing: false });
  return (
    <div className="row" role="group" aria-label="Playback">
      <button type="button" onClick={() => show(0)} disabled={shownTokens === 0}>
        <Icon name="restart" /> From the start
      </button>
      <button type="button" onClick={() => useTalk.setState({ playing: !playing })} disabled={shownTokens >= all}>
        <Icon name={playing ? 'pause' : 'play'} /> {playing ? 'Pause' : 'Play'}
      </button>
      <button type="button" onClick={() => stepToken(answers, show)} disabled={shownTokens >= all}>
        <Icon name="step" /> Token
      </button>
      <button type="button" onClick={() => show(turnEnd(answers, shownTokens))} disabled={shownTokens >= all}>
        <Icon name="next" /> Turn
      </button>
      <button type="button" onClick={() => show(all)} disabled={shownTokens >= all}>
        All
      </button>
      <button type="button" title="The same task with other draws" disabled={asking} onClick={() => void regenerate()}>
        <Icon name="dice" /> Regenerate
      </button>
      <button type="button" className="quiet" onClick={() => void openAsRollouts(answers)}>
        Open as rollouts
      </button>
      <span className="small faint" role="status">
        {Math.min(shownTokens, all)} of {all} tokens
      </span>
    </div>
  );
}

/** Opens them to inspect them token by token and save them. Each voice keeps its own update. */
async function openAsRollouts(answers: readonly TalkAnswer[]): Promise<void> {
  const { openBatches } = await import('../../page/files/openRollouts.ts');
  const batches = answers.map(({ source: { batch, config }, update }) => ({ batch: { ...batch, update }, config }));
  openBatches('talk', batches, answers[0]?.source.vocabulary ?? []);
}

/** Shows one more token, and selects it to show its alternatives. */
function stepToken(answers: readonly TalkAnswer[], show: (tokens: number) => void): void {
  const { shownTokens } = useTalk.getState();
  show(shownTokens + 1);
  const last = answers.at(-1);
  if (!last) return;
  const { batch } = last.source;
  const agentPositions = [...batch.roles.keys()].filter((t) => batch.roles[t] === Role.action);
  const t = agentPositions[shownTokens];
  if (t !== undefined) useTalk.setState({ selected: { voice: 'now', t } });
}

/** The alternatives to the selected token, before training and now. A pressed alternative replaces the token. */
function SelectedWord() {
  const selected = useTalk((s) => s.selected);
  const answer = useTalk((s) => s.selected && s.answers[s.selected.voice]);
  const asking = useTalk((s) => s.asking);
  if (!selected || !answer)
    return <p className="small faint talk-looked">Press a word the agent wrote to see its alternatives.</p>;
  return (
    <section className="card talk-looked" aria-label="Selected word">
      <RunDistribution
        {...{ source: answer.source, t: selected.t, since: 'begun', disabled: asking }}
        choose={(token) => void continueFrom(selected, token)}
      />
      <p className="small faint">Press an alternative to use it instead; the agent continues from there.</p>
    </section>
  );
}

/** Plays the answers token by token. Shows them at once if the system asks for reduced motion. */
function usePlayback(): void {
  const playing = useTalk((s) => s.playing);
  useEffect(() => {
    if (!playing) return;
    const all = () => Math.max(0, ...Object.values(useTalk.getState().answers).map(agentTokenCount));
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      useTalk.setState({ shownTokens: all(), playing: false });
      return;
    }
    const timer = setInterval(() => {
      const next = useTalk.getState().shownTokens + 1;
      useTalk.setState({ shownTokens: next, playing: next < all() });
    }, TOKEN_MS);
    return () => clearInterval(timer);
  }, [playing]);
}

/** Sampling settings of the answers. The run's own settings stay. */
function VoiceSampling() {
  const sampling = useTalk((s) => s.sampling);
  const set = (changed: typeof sampling) => useTalk.setState({ sampling: changed });
  return (
    <fieldset className="card row talk-sampling">
      <legend className="visually-hidden">Sampling</legend>
      <SamplingKnobs {...{ sampling, set }} />
      <button type="button" className="small" onClick={() => set({ ...sampling, ...runSampling() })}>
        Use the run’s settings
      </button>
    </fieldset>
  );
}

/** Shown because one task isn't evidence. Renders nothing before the second evaluation. */
export function EvaluationChange() {
  useLive((s) => s.metricsVersion);
  const { series, config } = useLive.getState();
  const curve = series.get('eval/success');
  const [before, latest] = [curve?.firstValue, curve?.lastValue];
  if (!curve || !config || curve.length < 2 || before === undefined || latest === undefined) return null;
  const { success } = EVALUATION_WORDS[evaluationSetOf(config)];
  return (
    <p className="soft" data-testid="talk-overall">
      One task isn’t evidence. {success} ({distinctTasks(series, config)}): {percent(before)} before training,{' '}
      <b>{percent(latest)}</b> at update {curve.lastUpdate}.
    </p>
  );
}

function TaskForm() {
  const { form, chosenBy, asking, seed, words } = useTalk();
  const isTraining = useLive((s) => s.running);
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    void ask();
  };
  return (
    <form className="card talk-form" aria-label="Task" onSubmit={onSubmit}>
      {form && <ByWordsOrNumber chosenBy={chosenBy} choose={(way) => useTalk.setState({ chosenBy: way })} />}
      {form && chosenBy === 'words' ? (
        <TaskBlanks form={form} words={words} set={(filled) => useTalk.setState({ words: filled })} />
      ) : (
        <TaskNumber seed={seed} set={(number) => useTalk.setState({ seed: number })} chooseRandom={anotherTask} />
      )}
      <p className="small faint">
        {form && chosenBy === 'words' ? form.doc : 'Each number is the seed of a task, drawn as in training.'}
      </p>
      {asking && isTraining && (
        <p className="small note" role="status">
          Training is running and takes most of the processor. Pause it for a faster answer.
        </p>
      )}
      <button type="submit" className="primary" disabled={asking || form === undefined}>
        <Icon name="play" /> {asking ? 'The agent is thinking …' : 'Ask the agent'}
      </button>
    </form>
  );
}

interface Props {
  readonly voice: Voice;
  readonly answer: TalkAnswer;
}

function VoiceColumn({ voice, answer }: Props) {
  const shownTokens = useTalk((s) => s.shownTokens);
  const imitates = useLive((s) => s.losses.length > 0);
  const currentUpdate = useLive((s) => s.update);
  const { source, rollout, update, judged } = answer;
  const [episode] = source.batch.episodes;
  const shownLength = shownUpTo(answer, shownTokens);
  const over = shownLength === rollout.words.length;
  const turns = useMemo(() => turnsUpTo(rollout.turns, shownLength), [rollout, shownLength]);
  const selected = useTalk((s) => (s.selected?.voice === voice ? s.selected.t : null));
  const looks = useMemo(() => {
    const look = answerLook(answer);
    return () => look;
  }, [answer]);
  const rewardChips = useMemo(() => turnRewards(answer), [answer]);
  const select = useCallback(
    (t: number | null) =>
      useTalk.setState(t === null ? { selected: null } : { selected: { voice, t }, playing: false }),
    [voice],
  );
  if (!episode) return null;
  const title =
    update > 0
      ? `${currentUpdate > update ? 'Asked after' : 'Now, after'} update ${update}`
      : voice === 'now' && imitates
        ? 'Now, after the warm start only'
        : 'Before training';
  return (
    <article className="card voice col gap-3 thin" aria-label={title} data-voice={voice} data-over={over}>
      <header className="row between">
        <h3>{title}</h3>
        {over && <Verdict {...{ success: episode.success, judged, reward: episode.reward }} />}
      </header>
      <p className="strong">{episode.question}</p>
      <TokenView
        {...{ turns, annotations: rewardChips, looks, select }}
        className="transcript"
        layout={rollout.writing}
        channel={null}
        label="Words; arrow keys move"
        selected={selected}
      />
      {!over && <p className="small faint">{waitingText(turns.at(-1))}</p>}
      {over && (
        <footer>
          <p className="small soft">
            {STOP_TEXTS[episode.stop]} · {episode.toolCalls} tool calls · {episode.invalidTurns} malformed
          </p>
          {judged && <RewardSplit episode={episode} />}
        </footer>
      )}
      <div className="voice-env" translate="no">
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
      <Icon name={success ? 'check' : 'cross'} /> {success ? 'solved' : 'not solved'}, reward {rewardNumber(reward)}
    </span>
  );
}

function waitingText(turn: Turn<Kind> | undefined): string {
  return turn?.spans.at(-1)?.kind === 'observation' ? 'The tool has answered.' : 'The agent is writing.';
}

/** How the words of an answer are drawn. Only the agent's own words can be selected. */
function answerLook({ source: { batch }, rollout, chosen }: TalkAnswer): Look {
  return memoizedLook((t) => {
    const kind = rollout.kinds[t] ?? 'prompt';
    const word = rollout.words[t] ?? '';
    const look = { word, kind, tag: rollout.tags[t] ?? false };
    if (batch.roles[t] !== Role.action) return look;
    const probability = shortNumber(Math.exp(batch.sampledLogprobs[t] ?? 0));
    const name = `${word}, ${KINDS[kind].label}, probability ${probability}`;
    return { ...look, accessibleName: name, chosen: chosen?.position === t };
  });
}

/** The reward of each turn, if the environment knows the right answer. */
function turnRewards({ source: { batch }, judged }: TalkAnswer): TokenAnnotations {
  return {
    heading: 'h4',
    chip: ({ spans }) => {
      const tokens = spans.flatMap((span) => span.tokens);
      const reward = tokens.reduce((sum, t) => sum + (batch.rewards[t] ?? 0), 0);
      return judged && reward !== 0 && <RewardChip amount={reward}>{signedReward(reward)}</RewardChip>;
    },
  };
}
