import { create } from 'zustand';
import type { RunConfig } from '../../config/fields.ts';
import type { Answer } from '../../wire/questions.ts';
import { useConfig } from '../knobs/configStore.ts';
import { shownRollout } from '../view/currentRollout.ts';
import { play } from './engine.ts';
import { useLive } from '../view/liveStore.ts';
import { groupStats } from '../rollout/readRollout.ts';
import { useSelection } from '../view/selectionStore.ts';

/** The worker's answer: the episode so far, played from the words and turns that the page sent. */
export type PlayAnswer = Extract<Answer, { kind: 'play' }>;

/** The agent's results on the same task, in the rollouts of one group. */
export interface AgentRecord {
  readonly update: number;
  readonly solved: number; // rollouts that solved the task
  readonly rollouts: number; // all rollouts
  readonly meanReward: number;
}

interface Game {
  readonly config: RunConfig | null; // null: no game has begun
  readonly seed: number; // of the task
  readonly environmentSeed: number; // of the environment's random events
  readonly tokens: readonly number[]; // written so far
  readonly playAnswer: PlayAnswer | null;
  readonly problem: string | null;
  readonly agent: AgentRecord | null; // null: the agent has not played this task
}

/** The current game. It stays when the dialog is closed. */
export const useGame = create<Game>()(() => ({
  config: null,
  seed: 0,
  environmentSeed: 0,
  tokens: [],
  playAnswer: null,
  problem: null,
  agent: null,
}));

const TRAINING_SEED_LIMIT = 2 ** 31; // the seeds of training tasks are below this
const randomSeed = () => Math.floor(Math.random() * TRAINING_SEED_LIMIT);

/** Begins a new random task with the knobs of the run, or with those set on the page if there is no run. */
export function playNew(): void {
  const { applied, wanted } = useConfig.getState();
  playTask({ config: applied ?? wanted, seed: randomSeed(), environmentSeed: randomSeed(), agent: null });
}

/** Whether the page shows a rollout of a run, so that its task can be played. False for a recording. */
export function canPlaySelected(): boolean {
  return !useLive.getState().isExample && selectedEpisode() !== undefined;
}

/** Begins the task of the rollout in view, with the knobs that its batch was rolled out with. */
export function playSelected(): void {
  const episode = selectedEpisode();
  const config = useLive.getState().batchConfig ?? useConfig.getState().applied;
  if (useLive.getState().isExample || !episode || !config) return;
  const group = useLive.getState().batch.episodes.filter((other) => other.group === episode.group);
  playTask({
    config,
    seed: episode.seed,
    environmentSeed: episode.environmentSeed,
    agent: {
      update: useLive.getState().batch.update,
      solved: group.filter(({ success }) => success).length,
      rollouts: group.length,
      meanReward: groupStats(group.map(({ reward }) => reward)).mean,
    },
  });
}

export function playAgain(): void {
  send([]);
}

export function writeWord(id: number): void {
  send([...useGame.getState().tokens, id]);
}

export function writeTurn(typed: string): void {
  send([...useGame.getState().tokens], typed);
}

/** Removes the last word of the unfinished turn. Finished turns cannot be undone. */
export function removeLastWord(): void {
  const { tokens, playAnswer } = useGame.getState();
  if (playAnswer && playAnswer.played.turnLength > 0) send(tokens.slice(0, -1));
}

export function playTask(task: Pick<Game, 'config' | 'seed' | 'environmentSeed' | 'agent'>): void {
  useGame.setState({ ...task, playAnswer: null });
  send([]);
}

/** The typed turn follows the tokens. An answer that arrives after a newer request is ignored. */
function send(tokens: readonly number[], typed?: string): void {
  const { config, seed, environmentSeed } = useGame.getState();
  if (!config) return;
  useGame.setState({ tokens, problem: null });
  void play({ config, seed, environmentSeed, tokens, ...(typed !== undefined && { typed }) }).then((answer) => {
    if (useGame.getState().tokens !== tokens) return;
    if (answer.kind === 'play') useGame.setState({ playAnswer: answer, tokens: answer.tokens });
    else if (answer.kind === 'refused') {
      // drop the refused word or turn
      useGame.setState({ problem: answer.message, tokens: useGame.getState().playAnswer?.tokens ?? [] });
    }
  });
}

function selectedEpisode() {
  return shownRollout(useSelection.getState().row).episode;
}
