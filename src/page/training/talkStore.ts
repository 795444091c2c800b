import { create } from 'zustand';
import type { ChosenTask, AskForm, TalkSampling, Voice } from '../../domain/taskForm.ts';
import { Role } from '../../domain/tokens.ts';
import { useConfig } from '../knobs/configStore.ts';
import { reply, type RolloutSource } from './inspect.ts';
import { useLive } from '../view/liveStore.ts';
import { question } from './transport.ts';
import { readRollout, type Rollout } from '../rollout/readRollout.ts';

/** The same `environmentSeed` gives the same random events in the environment, the same `drawIndex` the same draws of the agent. */
interface TaskRequest {
  readonly task: ChosenTask;
  readonly environmentSeed: number;
  readonly drawIndex: number;
}

/** A task as one version of the agent (a voice) played it, to the end. */
export interface TalkAnswer {
  readonly request: TaskRequest;
  readonly source: RolloutSource;
  readonly rollout: Rollout;
  readonly update: number; // of the agent's weights; 0: before training
  readonly judged: boolean; // whether the environment knows the right answer
  readonly chosen: { readonly position: number } | null; // the place where a person chose the word
}

export interface SelectedToken {
  readonly voice: Voice;
  readonly t: number;
}

interface TalkState {
  readonly run: number; // the run of the agent; 0: none yet
  readonly form: AskForm | null | undefined; // null: tasks can't be worded here; undefined: not known yet
  readonly chosenBy: 'words' | 'number';
  readonly words: readonly string[]; // the text in each blank of the form
  readonly seed: number;
  readonly sampling: TalkSampling;
  readonly answers: Readonly<Partial<Record<Voice, TalkAnswer>>>;
  readonly shownTokens: number; // how many tokens of the agent are shown, in each voice
  readonly playing: boolean; // whether more tokens appear by themselves
  readonly selected: SelectedToken | null;
  readonly asking: boolean; // whether an answer is being waited for
  readonly problem: string | null;
}

const SEEDS = 2 ** 31; // the seeds of training tasks are below this
const randomSeed = () => Math.floor(Math.random() * SEEDS);

const NO_ANSWERS = {
  ...{ answers: {}, shownTokens: 0, playing: false, selected: null, asking: false, problem: null },
} as const satisfies Partial<TalkState>;

/** The current talk. It stays when another screen is opened. */
export const useTalk = create<TalkState>()(() => ({
  run: 0,
  form: undefined,
  chosenBy: 'words',
  words: [],
  seed: 7,
  sampling: { temperature: 1, topK: 0, topP: 1, greedy: false },
  ...NO_ANSWERS,
}));

let questionNumber = 0; // number of the newest question; answers to older questions are ignored
let lastDrawIndex = 0; // a new index gives other draws
// the last task of this run
let lastRequest: { readonly request: TaskRequest; readonly sampling: TalkSampling } | null = null;
let lastForm: TalkState['form']; // if the next run has the same form, the typed text stays

/**
 * Begins a talk with the current run, and asks how a person can word a task in its environment. With the same run the
 * talk continues. Answers of another run are dropped, because questions about its rollouts can't be answered any more.
 */
export async function beginTalk(run: number): Promise<void> {
  const { run: currentRun, form: currentForm } = useTalk.getState();
  if (run === currentRun && currentForm !== undefined) return;
  questionNumber++;
  lastRequest = null;
  useTalk.setState({ run, form: undefined, ...NO_ANSWERS });
  const result = reply(await question({ kind: 'ask-form' }), 'ask-form');
  if (useTalk.getState().run !== run) return;
  if (!result.ok) {
    useTalk.setState({ problem: result.message });
    return;
  }
  const { form } = result.answer;
  const isSameForm = lastForm !== undefined && JSON.stringify(lastForm) === JSON.stringify(form);
  lastForm = form;
  useTalk.setState({ form, ...(!isSameForm && { words: form?.example ?? [], chosenBy: form ? 'words' : 'number' }) });
}

/**
 * Lets both voices play the task; before the first update there is only one voice. The task that was asked last gets
 * the same draws again. So the agent before training repeats itself, and any difference in the current agent's answer
 * comes from training.
 */
export function ask(): Promise<void> {
  const { chosenBy, words, seed, sampling } = useTalk.getState();
  const task = chosenBy === 'words' ? { words } : { seed };
  const isSameTask =
    lastRequest &&
    JSON.stringify([lastRequest.request.task, lastRequest.sampling]) === JSON.stringify([task, sampling]);
  const request =
    lastRequest && isSameTask
      ? lastRequest.request
      : { task, environmentSeed: randomSeed(), drawIndex: ++lastDrawIndex };
  lastRequest = { request, sampling };
  return askVoices(request, hasLearned() ? ['begun', 'now'] : ['now']);
}

/** Whether the weights have changed since the start of the run, by an update or a step of imitation. */
function hasLearned(): boolean {
  const { update, losses } = useLive.getState();
  return update > 0 || losses.length > 0;
}

/** Plays the last task again, with other draws. */
export async function regenerate(): Promise<void> {
  const { answers, sampling } = useTalk.getState();
  const lastAnswer = answers.now ?? answers.begun;
  if (!lastAnswer) return;
  const request = { ...lastAnswer.request, drawIndex: ++lastDrawIndex };
  lastRequest = { request, sampling };
  await askVoices(request, answers.begun ? ['begun', 'now'] : ['now']);
}

/** Lets one voice continue from the token. Does nothing while an answer is awaited, because that answer would be lost. */
export async function continueFrom({ voice, t }: SelectedToken, token: number): Promise<void> {
  const { answers, asking } = useTalk.getState();
  const old = answers[voice];
  if (!old || asking) return;
  const { batch } = old.source;
  const before = [...batch.tokens.subarray(0, t)].filter((_, at) => batch.roles[at] === Role.action);
  const shown = { shownTokens: before.length + 1, selected: { voice, t } };
  await askVoices({ ...old.request, drawIndex: ++lastDrawIndex }, [voice], {
    script: [...before, token],
    position: t,
    shown,
  });
}

/** Has the agent's tokens up to it, its position, and what is shown of the new text. */
interface ChosenToken {
  readonly script: readonly number[];
  readonly position: number;
  readonly shown: Pick<TalkState, 'shownTokens' | 'selected'>;
}

/** Asks the voices one after the other. The old text stays until all have answered, and stays if one of them can't. */
async function askVoices(request: TaskRequest, voices: readonly Voice[], chosen?: ChosenToken): Promise<void> {
  const { sampling } = useTalk.getState();
  const number = ++questionNumber;
  const { update } = useLive.getState();
  useTalk.setState({ asking: true, problem: null });
  try {
    const answersByVoice: Partial<Record<Voice, TalkAnswer>> = chosen ? { ...useTalk.getState().answers } : {};
    for (const voice of voices) {
      const { task, environmentSeed, drawIndex } = request;
      const agentPrefix = chosen?.script ?? [];
      const response = await question({
        kind: 'talk',
        chosenTask: task,
        environmentSeed,
        agentPrefix,
        voice,
        sampling,
        drawIndex,
      });
      if (number !== questionNumber) return; // another task was asked meanwhile, or another run began
      const result = reply(response, 'talk');
      if (!result.ok) {
        useTalk.setState({ problem: result.message });
        return;
      }
      const { batch, config, vocabulary, id, judged } = result.answer;
      const rollout = readRollout(batch, vocabulary, 0);
      const source = { batch, row: 0, config, branch: id, vocabulary };
      const place = chosen ? { position: chosen.position } : null;
      answersByVoice[voice] = {
        request,
        source,
        rollout,
        update: voice === 'begun' ? 0 : update,
        judged,
        chosen: place,
      };
    }
    useTalk.setState({
      answers: answersByVoice,
      playing: true,
      ...(chosen?.shown ?? { shownTokens: 0, selected: null }),
    });
  } finally {
    if (number === questionNumber) useTalk.setState({ asking: false });
  }
}

export function agentTokenCount({ source: { batch } }: TalkAnswer): number {
  return batch.roles.reduce((sum, role) => sum + Number(role === Role.action), 0);
}

/** The shown text reaches up to the agent's next token, so a tool's answer appears at once. */
export function shownUpTo({ source: { batch }, rollout }: TalkAnswer, tokens: number): number {
  let count = 0;
  for (let t = 0; t < rollout.words.length; t++) {
    if (batch.roles[t] === Role.action && ++count > tokens) return t;
  }
  return rollout.words.length;
}

/** The number of the agent's tokens after which every voice has finished its turn. */
export function turnEnd(answers: readonly TalkAnswer[], tokens: number): number {
  return Math.max(
    tokens,
    ...answers.map(({ source: { batch } }) => {
      let count = 0;
      let turn = 0;
      for (const [t, role] of batch.roles.entries()) {
        if (role !== Role.action) continue;
        if (count === tokens) turn = batch.turns[t] ?? 0;
        if (count >= tokens && batch.turns[t] !== turn) break;
        count++;
      }
      return count;
    }),
  );
}

export function anotherTask(): void {
  useTalk.setState({ chosenBy: 'number', seed: randomSeed() });
}

export function runSampling(): TalkSampling {
  const { applied, wanted } = useConfig.getState();
  const { temperature, topK, topP } = applied ?? wanted;
  return { temperature, topK, topP, greedy: false };
}
