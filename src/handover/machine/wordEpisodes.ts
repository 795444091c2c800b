import type { RunConfig } from '../../config/fields.ts';
import type { EnvSettings } from '../../envs/env.ts';
import { createEnv } from '../../envs/index.ts';
import { openEpisode, type Stepper } from '../../envs/stepper.ts';
import { ERROR_WORD } from '../../envs/vocab.ts';
import type { Facts } from '../../facts/facts.ts';
import { Role } from '../../domain/tokens.ts';
import { evaluatedReset } from '../../rl/evaluatedTasks.ts';

/** What the program reads of a run's `machine/environment.json`. */
export interface RunRules {
  readonly config: RunConfig;
  readonly facts: Facts | null;
  readonly settings: Omit<EnvSettings, 'grammar' | 'rewardOnLastAction'>;
}

/** Which task: its set, and the seeds that draw it on the page. */
interface SeededTask {
  readonly split: 'train' | 'val';
  readonly index: { readonly seed: number; readonly environmentSeed: number };
}

/**
 * The class with which inside.js plays a built-in environment, as it plays a class that a person wrote. The file is
 * bundled into one script, which a handed-over folder runs in the virtual machine: the rules are those of the page.
 *
 * `rulesText` is the text of `machine/environment.json`. Every word can be drawn at every place, because frameworks
 * sample without a grammar. Throws as `createEnv` does.
 */
export function environmentOf(rulesText: string) {
  const { config, facts, settings } = JSON.parse(rulesText) as RunRules;
  const env = createEnv(config, facts);
  const ids = new Map(env.vocabulary.map((word, id) => [word, id]));
  const unknown = ids.get(ERROR_WORD) ?? 0; // no environment takes it in a call or an answer
  const begins = { train: env.reset, val: evaluatedReset(env) };
  const conditions = { env, settings: { ...settings, grammar: false, rewardOnLastAction: true } };

  return class WordEpisode {
    stepper: Stepper | null = null;

    reset({ split, index }: SeededTask): string {
      this.stepper = openEpisode({ ...conditions, begin: begins[split] }, index);
      return this.state(0);
    }

    /**
     * Takes one turn. If its words end before the turn does, the turn was cut off, and the episode ends as at its token
     * limit. Without words, it ends between two turns.
     */
    step(words: readonly string[]): string {
      const { stepper } = this;
      if (!stepper) throw new Error('step comes before reset.');
      const { turn, finishedTurns } = stepper;
      const turnCount = finishedTurns.length;
      for (const word of words) {
        if (stepper.stop !== null || stepper.turn !== turn) break;
        stepper.take(ids.get(word) ?? unknown);
      }
      if (stepper.stop === null && stepper.turn === turn) stepper.cut();
      return this.state(turnCount);
    }

    getReward(): number {
      return 0; // step() says what each turn pays
    }

    /** The episode after a turn, as JSON; `turnCount` is the number of turns before it. */
    state(turnCount: number): string {
      const { stop = null, success = false, budget = 0, tokens = [], finishedTurns = [] } = this.stepper ?? {};
      const turn = finishedTurns[turnCount];
      const observation = tokens.filter((token) => token.role === Role.observation && token.turn === turn?.turn);
      return JSON.stringify({
        ...{ stop, success, budget },
        ...(turn && { turn: { ...turn, observation: observation.map(({ token }) => env.vocabulary[token]) } }),
      });
    }
  };
}
