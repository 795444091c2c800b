import { create } from 'zustand';
import type { RunConfig } from '../../config/fields.ts';
import type { Answer } from '../../wire/questions.ts';
import { useConfig } from '../knobs/configStore.ts';
import { currentOf } from '../run/currentRollout.ts';
import { play } from '../run/engine.ts';
import { live, useLive } from '../run/liveStore.ts';
import { groupStats } from '../rollout/readRollout.ts';
import { useSelection } from '../shell/selectionStore.ts';

/** What lies on the table: an episode as far as it has come. */
export type Table = Extract<Answer, { kind: 'play' }>;

/** How the agent fared on the same task. */
export interface AgentRecord {
  readonly update: number;
  readonly solved: number;
  readonly of: number;
  readonly meanReward: number;
}

interface Game {
  readonly config: RunConfig | null; // null: none has begun
  readonly seed: number; // of the task
  readonly luck: number; // of the environment's dice
  readonly tokens: readonly number[]; // written so far
  readonly table: Table | null;
  readonly problem: string | null;
  readonly agent: AgentRecord | null; // null: the agent has not played this task
}

/** The game under way; it stays when the dialog is closed. */
export const useGame = create<Game>()(() => ({
  config: null,
  seed: 0,
  luck: 0,
  tokens: [],
  table: null,
  problem: null,
  agent: null,
}));

const SEEDS = 2 ** 31; // tasks of training have these
const anySeed = () => Math.floor(Math.random() * SEEDS);

/** A new task, drawn with the knobs of the run, or of the page where there is none. */
export function playNew(): void {
  const { applied, wanted } = useConfig.getState();
  playTask({ config: applied ?? wanted, seed: anySeed(), luck: anySeed(), agent: null });
}

/** Whether there is a rollout of a run in view whose task can be played. */
export function canPlaySelected(): boolean {
  return !live.isExample && selectedEpisode() !== undefined;
}

/** The task of the rollout in view, with the knobs its batch was made under. */
export function playSelected(): void {
  const episode = selectedEpisode();
  const config = live.batchConfig ?? useConfig.getState().applied;
  if (live.isExample || !episode || !config) return;
  const group = live.batch.episodes.filter((other) => other.group === episode.group);
  playTask({
    config,
    seed: episode.seed,
    luck: episode.luck,
    agent: {
      update: live.batch.update,
      solved: group.filter(({ success }) => success).length,
      of: group.length,
      meanReward: groupStats(group.map(({ reward }) => reward)).mean,
    },
  });
}

/** The same task from the beginning. */
export function playAgain(): void {
  send([]);
}

/** Writes one word. */
export function write(id: number): void {
  send([...useGame.getState().tokens, id]);
}

/** Takes a turn that was typed. */
export function writeTurn(typed: string): void {
  send([...useGame.getState().tokens], typed);
}

/** Takes the last word of the turn under way back; a turn that was taken stays taken. */
export function takeBack(): void {
  const { tokens, table } = useGame.getState();
  if (table && table.played.draft > 0) send(tokens.slice(0, -1));
}

/** A given task from the beginning. */
export function playTask(task: Pick<Game, 'config' | 'seed' | 'luck' | 'agent'>): void {
  useGame.setState({ ...task, table: null });
  send([]);
}

/** Asks for the episode with these tokens, and behind them what was typed. What comes back late, after others were sent, is dropped. */
function send(tokens: readonly number[], typed?: string): void {
  const { config, seed, luck } = useGame.getState();
  if (!config) return;
  useGame.setState({ tokens, problem: null });
  void play({ config, seed, luck, tokens, ...(typed !== undefined && { typed }) }).then((answer) => {
    if (useGame.getState().tokens !== tokens) return;
    if (answer.kind === 'play') useGame.setState({ table: answer, tokens: answer.tokens });
    else if (answer.kind === 'refused') {
      // what stood before this word or turn stands again
      useGame.setState({ problem: answer.message, tokens: typed === undefined ? tokens.slice(0, -1) : tokens });
    }
  });
}

function selectedEpisode() {
  return currentOf(useLive.getState().batchVersion, useSelection.getState().row).episode;
}
