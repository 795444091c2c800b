import { create } from 'zustand';
import type { AskedTask, AskForm, TalkSampling, Voice } from '../../domain/taskForm.ts';
import { Role } from '../../domain/tokens.ts';
import { useConfig } from '../knobs/configStore.ts';
import { reply, type Source } from '../run/inspect.ts';
import { useLive } from '../run/liveStore.ts';
import { question } from '../run/transport.ts';
import { readRollout, type Rollout } from '../rollout/readRollout.ts';

/** A task that was asked; with the same luck the environment's dice fall the same again, with the same take the agent's draws. */
interface Asked {
  readonly task: AskedTask;
  readonly luck: number;
  readonly take: number;
}

/** What one voice said of a task, to its end. */
export interface SpokenTurn {
  readonly asked: Asked;
  readonly source: Source;
  readonly rollout: Rollout;
  readonly update: number; // of the weights that spoke; 0: before training
  readonly judged: boolean; // the environment knows what is right
  readonly taken: { readonly position: number } | null; // where a person chose the word
}

/** A token that is looked at. */
export interface TokenAt {
  readonly voice: Voice;
  readonly t: number;
}

interface TalkState {
  readonly run: number; // that it is a talk with; 0: with none yet
  readonly form: AskForm | null | undefined; // null: tasks have no words here; undefined: not known yet
  readonly by: 'words' | 'number';
  readonly words: readonly string[]; // one for each blank
  readonly seed: number;
  readonly sampling: TalkSampling;
  readonly said: Readonly<Partial<Record<Voice, SpokenTurn>>>;
  readonly shown: number; // tokens of the agent that are shown, in each voice
  readonly flowing: boolean; // they come by themselves
  readonly looked: TokenAt | null;
  readonly asking: boolean; // an answer is awaited
  readonly problem: string | null;
}

const SEEDS = 2 ** 31; // tasks of training have these
const anySeed = () => Math.floor(Math.random() * SEEDS);

const NOTHING_SAID = {
  ...{ said: {}, shown: 0, flowing: false, looked: null, asking: false, problem: null },
} as const satisfies Partial<TalkState>;

/** The talk under way; it stays when another screen is opened. */
export const useTalk = create<TalkState>()(() => ({
  run: 0,
  form: undefined,
  by: 'words',
  words: [],
  seed: 7,
  sampling: { temperature: 1, topK: 0, topP: 1, greedy: false },
  ...NOTHING_SAID,
}));

let questions = 0; // counts them: only the newest is waited for
let takes = 0; // another number, other draws
let last: { readonly asked: Asked; readonly sampling: TalkSampling } | null = null; // that was asked, of this run
let lastForm: TalkState['form']; // what was typed stays where tasks are worded the same

/**
 * Begins a talk with the run that is there, and asks how tasks are worded in its environment. With the same run the talk goes on;
 * what another run said is forgotten, for its rollouts cannot be asked about any more.
 */
export async function talkWith(run: number): Promise<void> {
  const { run: before, form: known } = useTalk.getState();
  if (run === before && known !== undefined) return;
  questions++;
  last = null;
  useTalk.setState({ run, form: undefined, ...NOTHING_SAID });
  const got = reply(await question({ kind: 'ask-form' }), 'ask-form');
  if (useTalk.getState().run !== run) return;
  if (!got.ok) {
    useTalk.setState({ problem: got.message });
    return;
  }
  const { form } = got.answer;
  const same = lastForm !== undefined && JSON.stringify(lastForm) === JSON.stringify(form);
  lastForm = form;
  useTalk.setState({ form, ...(!same && { words: form?.example ?? [], by: form ? 'words' : 'number' }) });
}

/**
 * Has both voices play the task as it is worded; where nothing was learned yet there is one. The task that was asked last meets the same
 * draws again: what was said before training is said once more, and what differs now was learned.
 */
export function ask(): Promise<void> {
  const { by, words, seed, sampling } = useTalk.getState();
  const task = by === 'words' ? { words } : { seed };
  const again = last && JSON.stringify([last.asked.task, last.sampling]) === JSON.stringify([task, sampling]);
  const asked = last && again ? last.asked : { task, luck: anySeed(), take: ++takes };
  last = { asked, sampling };
  return speak(asked, hasLearned() ? ['begun', 'now'] : ['now']);
}

/** Whether the run has other weights than it began with: after an update, or a step of imitation. */
function hasLearned(): boolean {
  const { update, losses } = useLive.getState();
  return update > 0 || losses.length > 0;
}

/** The task that was said something of once more, with other draws. */
export async function regenerate(): Promise<void> {
  const { said, sampling } = useTalk.getState();
  const spokeOf = said.now ?? said.begun;
  if (!spokeOf) return;
  const asked = { ...spokeOf.asked, take: ++takes };
  last = { asked, sampling };
  await speak(asked, said.begun ? ['begun', 'now'] : ['now']);
}

/** Plays one voice on from a token that a person chose; not while an answer is awaited, which would be lost. */
export async function playOn({ voice, t }: TokenAt, token: number): Promise<void> {
  const { said, asking } = useTalk.getState();
  const before = said[voice];
  if (!before || asking) return;
  const { batch } = before.source;
  const own = [...batch.tokens.subarray(0, t)].filter((_, at) => batch.roles[at] === Role.action);
  const shown = { shown: own.length + 1, looked: { voice, t } };
  await speak({ ...before.asked, take: ++takes }, [voice], { script: [...own, token], position: t, shown });
}

/** A word of a person's in a voice's mouth: what it said before, and where it is shown from. */
interface Taken {
  readonly script: readonly number[];
  readonly position: number;
  readonly shown: Pick<TalkState, 'shown' | 'looked'>;
}

/** Asks the voices one after the other. What was said before stays until all have answered, and where any of them cannot. */
async function speak(asked: Asked, voices: readonly Voice[], taken?: Taken): Promise<void> {
  const { sampling } = useTalk.getState();
  const own = ++questions;
  const { update } = useLive.getState();
  useTalk.setState({ asking: true, problem: null });
  try {
    const said: Partial<Record<Voice, SpokenTurn>> = taken ? { ...useTalk.getState().said } : {};
    for (const voice of voices) {
      const { task, luck, take } = asked;
      const script = taken?.script ?? [];
      const told = await question({ kind: 'talk', asked: task, luck, script, voice, sampling, take });
      if (own !== questions) return; // another task was asked since, or another run began
      const got = reply(told, 'talk');
      if (!got.ok) {
        useTalk.setState({ problem: got.message });
        return;
      }
      const { said: batch, config, vocabulary, id, judged } = got.answer;
      const rollout = readRollout(batch, vocabulary, 0);
      const source = { batch, row: 0, config, branch: id, vocabulary };
      const place = taken ? { position: taken.position } : null;
      said[voice] = { asked, source, rollout, update: voice === 'begun' ? 0 : update, judged, taken: place };
    }
    useTalk.setState({ said, flowing: true, ...(taken?.shown ?? { shown: 0, looked: null }) });
  } finally {
    if (own === questions) useTalk.setState({ asking: false });
  }
}

/** Tokens of the agent in what was said. */
export function spoken({ source: { batch } }: SpokenTurn): number {
  return batch.roles.reduce((sum, role) => sum + Number(role === Role.action), 0);
}

/** How far a voice is shown with so many tokens of the agent: up to its next one, so what a tool answers comes at once. */
export function shownUpTo({ source: { batch }, rollout }: SpokenTurn, tokens: number): number {
  let own = 0;
  for (let t = 0; t < rollout.words.length; t++) {
    if (batch.roles[t] === Role.action && ++own > tokens) return t;
  }
  return rollout.words.length;
}

/** Tokens of the agent until every voice has finished its turn. */
export function turnEnd(said: readonly SpokenTurn[], tokens: number): number {
  return Math.max(
    tokens,
    ...said.map(({ source: { batch } }) => {
      let own = 0;
      let turn = 0;
      for (const [t, role] of batch.roles.entries()) {
        if (role !== Role.action) continue;
        if (own === tokens) turn = batch.turns[t] ?? 0;
        if (own >= tokens && batch.turns[t] !== turn) break;
        own++;
      }
      return own;
    }),
  );
}

/** Another task by its number. */
export function anotherTask(): void {
  useTalk.setState({ by: 'number', seed: anySeed() });
}

/** The knobs of sampling that the run draws with. */
export function runSampling(): TalkSampling {
  const { applied, wanted } = useConfig.getState();
  const { temperature, topK, topP } = applied ?? wanted;
  return { temperature, topK, topP, greedy: false };
}
