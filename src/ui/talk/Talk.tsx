import { useEffect, type SubmitEvent } from 'react';
import { VOICES } from '../../domain/taskForm.ts';
import { Role } from '../../domain/tokens.ts';
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
} from './talkStore.ts';
import { VoiceColumn } from './VoiceColumn.tsx';
import { SamplingKnobs } from '../parts/SamplingKnobs.tsx';
import { EVALUATION_WORDS, evaluationSetOf } from '../../domain/evaluationSet.ts';
import { percent } from '../parts/numberText.ts';
import { distinctTasks } from '../run/course.ts';
import { ByWordsOrNumber, TaskBlanks, TaskNumber } from '../parts/TaskChoice.tsx';

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
            Talking never trains the agent. Both sides get the same random draws, so any difference comes from training.
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
  const kept = said.map(({ source: { batch, config }, update }) => ({ batch: { ...batch, update }, config }));
  openBatches('talk', kept, said[0]?.source.vocabulary ?? []);
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
