import type { EnvView, StopReason } from '../protocol.ts';
import { Purpose, random, type Random } from '../rng.ts';
import type { EnvSettings, Episode, Tool, ToolResult, TurnResult } from './env.ts';
import { parseTurn } from './turn.ts';
import { ERROR_WORD, FAILURE_WORD, type Vocabulary } from './vocab.ts';

/** What came of a well-formed call or answer, before it is paid. */
export interface Outcome {
  readonly observation: readonly string[]; // words between the observation tags
  readonly progress: number; // share of the process reward
  readonly stop: StopReason | null; // set when this ends the task
  readonly success: boolean;
}

/** A task under way: what one environment adds to the turn loop all share. Words in, words out; null is malformed. */
export interface Task {
  readonly prompt: readonly string[];
  readonly question: string;
  call(words: readonly string[], turn: number, tools: ToolRunner): Outcome | null;
  answer(words: readonly string[], turn: number): Outcome | null;
  expert(turn: number): readonly string[];
  demonstrate(quality: number, draw: Random, turn: number): readonly string[];
  view(): EnvView;
}

/** Runs a tool once; it may fail, as often as the settings say. */
export type ToolRunner = <World>(tool: Tool<World>, args: readonly string[], world: World) => ToolResult;

/** What the turn loop knows of an environment. */
export interface EpisodeRules {
  readonly vocabulary: Vocabulary;
  readonly maxTurns: number;
  readonly think: boolean;
  /** Grammar state in which turn `turn` (from 1) is drawn. */
  readonly stateOf: (turn: number, settings: EnvSettings) => number;
}

/**
 * An episode: parses each turn, runs the tool, forms the observation, pays, and says when it is over. Tool failures and
 * fillers are drawn per (seed, turn), so replaying the same actions replays the same episode.
 */
export function beginEpisode(task: Task, rules: EpisodeRules, seed: number): Episode {
  const { vocabulary, maxTurns } = rules;
  let turn = 0;
  let over = false;

  const act = (action: readonly number[], settings: EnvSettings): { outcome: Outcome; call: boolean } | null => {
    const parsed = parseTurn(action, vocabulary, rules.think);
    if (!parsed) return null;
    const draw = random(seed, Purpose.environment, turn);
    const run: ToolRunner = (tool, args, world) =>
      draw.next() < settings.failureRate ? { ok: false, content: [FAILURE_WORD] } : tool.execute(args, world, draw);
    const call = parsed.kind === 'call';
    const outcome = call ? task.call(parsed.words, turn, run) : task.answer(parsed.words, turn);
    return outcome && { outcome, call };
  };

  return {
    prompt: vocabulary.ids(task.prompt),
    question: task.question,
    step(action, settings): TurnResult {
      if (over) throw new Error('Episode.step: the episode is over; want a new one from ToolEnv.reset.');
      turn++;
      const acted = act(action, settings);
      const outcome = acted?.outcome ?? { observation: [ERROR_WORD], progress: 0, stop: null, success: false };
      const toolCall = acted?.call ?? false;
      const terminated = outcome.stop !== null;
      const truncated = !terminated && turn >= maxTurns;
      over = terminated || truncated;
      return {
        observation: over ? [] : vocabulary.ids(['<obs>', ...outcome.observation, '</obs>']),
        reward: outcome.success ? 1 : 0,
        processReward:
          settings.processReward * outcome.progress -
          (acted ? 0 : settings.invalidPenalty) -
          (toolCall ? settings.turnCost : 0),
        valid: acted !== null,
        toolCall,
        terminated,
        truncated,
        success: outcome.success,
        stop: outcome.stop ?? (truncated ? 'turns' : null),
        state: over ? 0 : rules.stateOf(turn + 1, settings),
      };
    },
    expert: () => vocabulary.ids(task.expert(turn + 1)),
    demonstrate: (quality, draw) => vocabulary.ids(task.demonstrate(quality, draw, turn + 1)),
    view: () => task.view(),
  };
}
