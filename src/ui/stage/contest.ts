import { create } from 'zustand';
import type { RunConfig } from '../../config/fields.ts';
import type { Recording } from '../../runs/recording.ts';
import { playQuestion } from '../../wire/playQuestion.ts';
import { playTask, type GameState, useGame, write } from '../play/game.ts';
import { reply } from '../run/inspect.ts';
import { question } from '../run/transport.ts';
import { type SideResult, type Play, playOf } from './play.ts';
import { followedSeeds, otherSeeds } from './recordedTasks.ts';

interface ContestState {
  readonly round: number; // from 1; 0 before the first
  readonly agent: Play | null; // its play of the task, known once the reader is through
  readonly won: { readonly reader: number; readonly agent: number };
}

/** The rounds against the agent. */
export const useContest = create<ContestState>()(() => ({ round: 0, agent: null, won: { reader: 0, agent: 0 } }));

/** The winner of a round: the one who solved it, or if both did, the one who took fewer turns; null for a draw. */
export function winner(reader: SideResult, agent: SideResult): 'reader' | 'agent' | null {
  const turns = ({ success, turns: taken }: SideResult) => (success ? taken : Infinity);
  if (turns(reader) === turns(agent)) return null;
  return turns(reader) < turns(agent) ? 'reader' : 'agent';
}

/** The words that can be written next. Empty if there is only one: it is written automatically. */
export function choicesOf({
  vocabulary,
  played,
}: GameState): readonly { readonly id: number; readonly word: string }[] {
  if (played.stop !== null || played.legal.length < 2) return [];
  return played.legal.map((id) => ({ id, word: played.names.get(id) ?? vocabulary[id] ?? '' }));
}

let unfollow: (() => void) | null = null;

/** The first round, with nothing won yet. */
export function beginContest(recording: Recording, config: RunConfig, own: boolean): void {
  useContest.setState({ round: 0, won: { reader: 0, agent: 0 } });
  nextRound(recording, config, own);
}

/** Another task. The agent is the reader's own where there is a run, else the one of the recording. */
export function nextRound(recording: Recording, config: RunConfig, own: boolean): void {
  endContest();
  const others = otherSeeds(recording);
  const seeds = others.length > 0 ? others : followedSeeds(recording);
  const { round } = useContest.getState();
  const seed = seeds[round % seeds.length];
  if (seed === undefined) return;
  useContest.setState({ round: round + 1, agent: null });
  unfollow = useGame.subscribe(({ table, tokens }, before) => {
    if (!table || table === before.table || table.tokens !== tokens) return;
    const [only, more] = table.played.legal;
    if (table.played.stop !== null) void finish(table, recording, config, seed, own);
    else if (only !== undefined && more === undefined) write(only);
  });
  playTask({ config, seed, luck: seed, agent: null });
}

/** Stops following the game: the contest is left. */
export function endContest(): void {
  unfollow?.();
  unfollow = null;
}

async function finish(table: GameState, recording: Recording, config: RunConfig, seed: number, own: boolean) {
  endContest();
  const { round } = useContest.getState();
  const agent = own ? await ownPlay(seed, config) : recordedPlay(recording, seed);
  if (!agent || useContest.getState().round !== round) return;
  const { success, paid } = table.played;
  const first = winner({ success, turns: paid.length }, agent.episode);
  useContest.setState(({ won }) => ({ agent, won: first ? { ...won, [first]: won[first] + 1 } : won }));
}

function recordedPlay({ plays, vocabulary }: Recording, seed: number): Play | null {
  const last = plays.at(-1);
  return last ? playOf(last.batch, vocabulary, seed, last.update) : null;
}

async function ownPlay(seed: number, config: RunConfig): Promise<Play | null> {
  const got = reply(await question(playQuestion(seed, config)), 'talk');
  return got.ok ? playOf(got.answer.said, got.answer.vocabulary, seed, 0) : null;
}
