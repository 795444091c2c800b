import { create } from 'zustand';
import type { AskedTask, AskForm, TalkSampling, Voice } from '../../domain/asking.ts';
import { Role } from '../../domain/tokens.ts';
import { useConfig } from '../knobs/configStore.ts';
import { reply, type Source } from '../run/inspect.ts';
import { useLive } from '../run/liveStore.ts';
import { question } from '../run/transport.ts';
import { readRollout, type Rollout } from '../rollout/rollout.ts';

/** What one voice said of a task, to its end. */
export interface Said {
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
  readonly form: AskForm | null | undefined; // null: tasks have no words here; undefined: not known yet
  readonly by: 'words' | 'number';
  readonly words: readonly string[]; // one for each blank
  readonly seed: number;
  readonly sampling: TalkSampling;
  readonly said: Readonly<Partial<Record<Voice, Said>>>;
  readonly shown: number; // tokens of the agent that are shown, in each voice
  readonly flowing: boolean; // they come by themselves
  readonly looked: TokenAt | null;
  readonly asking: boolean; // an answer is awaited
  readonly problem: string | null;
}

const SEEDS = 2 ** 31; // tasks of training have these
const anySeed = () => Math.floor(Math.random() * SEEDS);

/** The talk under way; it stays when another screen is opened. */
export const useTalk = create<TalkState>()(() => ({
  form: undefined,
  by: 'words',
  words: [],
  seed: 7,
  sampling: { temperature: 1, topK: 0, topP: 1, greedy: false },
  said: {},
  shown: 0,
  flowing: false,
  looked: null,
  asking: false,
  problem: null,
}));

let takes = 0;
let luck = 0; // of the task that lies there
let asked: AskedTask | null = null;

/** Asks how tasks are worded in the run's environment, and forgets what was said in another one. */
export async function learnForm(): Promise<void> {
  const got = reply(await question({ kind: 'ask-form' }), 'ask-form');
  if (!got.ok) {
    useTalk.setState({ problem: got.message });
    return;
  }
  const { form } = got.answer;
  const before = useTalk.getState().form;
  if (before !== undefined && JSON.stringify(before) === JSON.stringify(form)) return;
  asked = null;
  useTalk.setState({
    form,
    words: form?.example ?? [],
    by: form ? 'words' : 'number',
    said: {},
    looked: null,
    problem: null,
  });
}

/** Has both voices play the task as it is worded; where nothing was learned yet there is one. */
export function ask(): Promise<void> {
  const { by, words, seed } = useTalk.getState();
  asked = by === 'words' ? { words } : { seed };
  luck = anySeed();
  return speak(useLive.getState().update > 0 ? ['begun', 'now'] : ['now']);
}

/** The same task with other draws. */
export function regenerate(): Promise<void> {
  const { said } = useTalk.getState();
  return speak(said.begun ? ['begun', 'now'] : ['now']);
}

/** Plays one voice on from a token that a person chose. */
export async function playOn({ voice, t }: TokenAt, token: number): Promise<void> {
  const before = useTalk.getState().said[voice];
  if (!before) return;
  const { batch } = before.source;
  const own = [...batch.tokens.subarray(0, t)].filter((_, at) => batch.roles[at] === Role.action);
  await speak([voice], [...own, token], { position: t });
  if (useTalk.getState().problem === null) useTalk.setState({ shown: own.length + 1, looked: { voice, t } });
}

async function speak(
  voices: readonly Voice[],
  script: readonly number[] = [],
  taken: Said['taken'] = null,
): Promise<void> {
  if (!asked) return;
  const { sampling } = useTalk.getState();
  const take = ++takes;
  const { update } = useLive.getState();
  useTalk.setState({ asking: true, problem: null });
  const said: Partial<Record<Voice, Said>> = script.length > 0 ? { ...useTalk.getState().said } : {};
  for (const voice of voices) {
    const got = reply(await question({ kind: 'talk', asked, luck, script, voice, sampling, take }), 'talk');
    if (!got.ok) {
      useTalk.setState({ asking: false, problem: got.message }); // what was said before stays
      return;
    }
    const { said: batch, config, vocabulary, id, judged } = got.answer;
    const rollout = readRollout(batch, vocabulary, 0);
    const source = { batch, row: 0, config, branch: id, vocabulary };
    said[voice] = { source, rollout, update: voice === 'begun' ? 0 : update, judged, taken };
  }
  useTalk.setState({ said, asking: false, shown: 0, flowing: true, looked: null });
}

/** Tokens of the agent in what was said. */
export function spoken({ source: { batch } }: Said): number {
  return batch.roles.reduce((sum, role) => sum + Number(role === Role.action), 0);
}

/** How far a voice is shown with so many tokens of the agent: up to its next one, so what a tool answers comes at once. */
export function shownUpTo({ source: { batch }, rollout }: Said, tokens: number): number {
  let own = 0;
  for (let t = 0; t < rollout.words.length; t++) {
    if (batch.roles[t] === Role.action && ++own > tokens) return t;
  }
  return rollout.words.length;
}

/** Tokens of the agent until every voice has finished its turn. */
export function turnEnd(said: readonly Said[], tokens: number): number {
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
