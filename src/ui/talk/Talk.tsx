import { useEffect, type SubmitEvent, useCallback, useMemo } from 'react';
import { VOICES, type Voice } from '../../domain/taskForm.ts';
import { Role, type Kind } from '../../domain/tokens.ts';
import { Icon } from '../parts/Icon.tsx';
import { RunDistribution } from '../rollout/RunDistribution.tsx';
import { cancelStart, start } from '../run/engine.ts';
import { useLive, live } from '../run/liveStore.ts';
import { Header } from '../shell/Header.tsx';
import { StatusLine } from '../shell/StatusLine.tsx';
import '../styles/play.css';
import '../styles/talk.css';
import {
  playOn,
  regenerate,
  type SpokenTurn,
  spoken,
  talkWith,
  turnEnd,
  useTalk,
  runSampling,
  anotherTask,
  ask,
  shownUpTo,
} from './talkStore.ts';
import { SamplingKnobs } from '../parts/SamplingKnobs.tsx';
import { EVALUATION_WORDS, evaluationSetOf } from '../../domain/evaluationSet.ts';
import { percent, paid, short } from '../parts/numberText.ts';
import { distinctTasks } from '../run/course.ts';
import { ByWordsOrNumber, TaskBlanks, TaskNumber } from '../parts/TaskChoice.tsx';
import { RewardChip } from '../parts/RewardChip.tsx';
import { Drawing } from '../drawings/Drawing.tsx';
import { KINDS, STOPS } from '../rollout/kinds.ts';
import { RewardSplit } from '../rollout/RewardSplit.tsx';
import { turnsUpTo } from '../rollout/readRollout.ts';
import type { Turn } from '../../domain/tokenSpans.ts';
import { type Look, onceEach } from '../rollout/tokenLook.ts';
import { type TokenAnnotations, TokenView } from '../rollout/TokenView.tsx';

const WORD_MS = 140; // between words that come by themselves

/** A task of the reader's own, played by the agent: as it began beside as it is now. Nothing learns from it. */
export function Talk() {
  const session = useLive((s) => s.session);
  const run = useLive((s) => s.run);
  const { said, problem } = useTalk();
  useEffect(() => {
    if (session === 'ready') void talkWith(run);
  }, [session, run]);
  useFlow();
  const voices = VOICES.flatMap((voice) => {
    const its = said[voice];
    return its ? [{ voice, its }] : [];
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
            <NobodyYet starting={session === 'starting'} />
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
            <Steps said={voices.map(({ its }) => its)} />
            <div className="talk-voices" data-voices={voices.length}>
              {voices.map(({ voice, its }) => (
                <VoiceColumn key={voice} voice={voice} said={its} />
              ))}
            </div>
            <EvaluationChange />
          </div>
        )}
        {voices.length > 0 && <Looked />}
        {voices.length === 0 && session === 'ready' && <Empty />}
      </main>
      <StatusLine />
    </>
  );
}

function NobodyYet({ starting }: { readonly starting: boolean }) {
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

/** A word more, a turn more, all of it; and the same task once more. */
function Steps({ said }: { readonly said: readonly SpokenTurn[] }) {
  const { shown, flowing, asking } = useTalk();
  const all = Math.max(...said.map(spoken));
  const show = (tokens: number) => useTalk.setState({ shown: Math.min(all, tokens), flowing: false });
  return (
    <div className="row" role="group" aria-label="Playback">
      <button type="button" onClick={() => show(0)} disabled={shown === 0}>
        <Icon name="restart" /> From the start
      </button>
      <button type="button" onClick={() => useTalk.setState({ flowing: !flowing })} disabled={shown >= all}>
        <Icon name={flowing ? 'pause' : 'play'} /> {flowing ? 'Pause' : 'Play'}
      </button>
      <button type="button" onClick={() => stepToken(said, show)} disabled={shown >= all}>
        <Icon name="step" /> Token
      </button>
      <button type="button" onClick={() => show(turnEnd(said, shown))} disabled={shown >= all}>
        <Icon name="next" /> Turn
      </button>
      <button type="button" onClick={() => show(all)} disabled={shown >= all}>
        All
      </button>
      <button type="button" title="The same task with other draws" disabled={asking} onClick={() => void regenerate()}>
        <Icon name="dice" /> Regenerate
      </button>
      <button type="button" className="quiet" onClick={() => void openAsRollouts(said)}>
        Open as rollouts
      </button>
      <span className="small faint" role="status">
        {Math.min(shown, all)} of {all} tokens
      </span>
    </div>
  );
}

/** What was said beside other rollouts, where it can be looked at token by token and saved; each voice is of its own step. */
async function openAsRollouts(said: readonly SpokenTurn[]): Promise<void> {
  const { openBatches } = await import('../rollouts/openRollouts.ts');
  const batches = said.map(({ source: { batch, config }, update }) => ({ batch: { ...batch, update }, config }));
  openBatches('talk', batches, said[0]?.source.vocabulary ?? []);
}

/** One token more, and what else could stand there. */
function stepToken(said: readonly SpokenTurn[], show: (tokens: number) => void): void {
  const { shown } = useTalk.getState();
  show(shown + 1);
  const last = said.at(-1);
  if (!last) return;
  const { batch } = last.source;
  const own = [...batch.roles.keys()].filter((t) => batch.roles[t] === Role.action);
  const t = own[shown];
  if (t !== undefined) useTalk.setState({ looked: { voice: 'now', t } });
}

/** What could stand at the token that is looked at, before training and now; a word that is pressed is said instead. */
function Looked() {
  const looked = useTalk((s) => s.looked);
  const said = useTalk((s) => s.looked && s.said[s.looked.voice]);
  const asking = useTalk((s) => s.asking);
  if (!looked || !said)
    return <p className="small faint talk-looked">Press a word the agent wrote to see its alternatives.</p>;
  return (
    <section className="card talk-looked" aria-label="Selected word">
      <RunDistribution
        {...{ source: said.source, t: looked.t, since: 'begun', busy: asking }}
        choose={(token) => void playOn(looked, token)}
      />
      <p className="small faint">Press an alternative to use it instead; the agent continues from there.</p>
    </section>
  );
}

/** Words that come by themselves, until all are there; all at once where motion is not wanted. */
function useFlow(): void {
  const flowing = useTalk((s) => s.flowing);
  useEffect(() => {
    if (!flowing) return;
    const all = () => Math.max(0, ...Object.values(useTalk.getState().said).map(spoken));
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      useTalk.setState({ shown: all(), flowing: false });
      return;
    }
    const timer = setInterval(() => {
      const next = useTalk.getState().shown + 1;
      useTalk.setState({ shown: next, flowing: next < all() });
    }, WORD_MS);
    return () => clearInterval(timer);
  }, [flowing]);
}

/** How answers are drawn; the run keeps its own. */
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

/** What training did to all tasks that are evaluated, beside the one that was asked; nothing until it was measured twice. */
export function EvaluationChange() {
  useLive((s) => s.metricsVersion);
  const { series, config } = live;
  const curve = series.get('eval/success');
  const [before, now] = [curve?.first, curve?.latest];
  if (!curve || !config || curve.length < 2 || before === undefined || now === undefined) return null;
  const { success } = EVALUATION_WORDS[evaluationSetOf(config)];
  return (
    <p className="soft" data-testid="talk-overall">
      One task isn’t evidence. {success} ({distinctTasks(series, config)}): {percent(before)} before training,{' '}
      <b>{percent(now)}</b> at update {curve.last}.
    </p>
  );
}

/** What the agent is asked: in words of the environment, chosen or typed, or a task by its number. */
function TaskForm() {
  const { form, by, asking, seed, words } = useTalk();
  const trains = useLive((s) => s.running);
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    void ask();
  };
  return (
    <form className="card talk-form" aria-label="Task" onSubmit={onSubmit}>
      {form && <ByWordsOrNumber by={by} choose={(way) => useTalk.setState({ by: way })} />}
      {form && by === 'words' ? (
        <TaskBlanks form={form} words={words} set={(filled) => useTalk.setState({ words: filled })} />
      ) : (
        <TaskNumber seed={seed} set={(number) => useTalk.setState({ seed: number })} another={anotherTask} />
      )}
      <p className="small faint">
        {form && by === 'words' ? form.doc : 'Each number is the seed of a task, drawn as in training.'}
      </p>
      {asking && trains && (
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
  readonly said: SpokenTurn;
}

/** What one voice says of a task, as far as it is shown: turn by turn, tools as they answer. */
function VoiceColumn({ voice, said }: Props) {
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
