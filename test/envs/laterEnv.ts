import { type Episode, type Reset, type ToolEnv, asyncReset } from '../../src/envs/env.ts';

/** How often an environment was asked, and how many at once. */
export interface Crossings {
  readonly opened: number[];
  readonly answered: number[];
  readonly left: Set<Episode>;
  closed: number;
}

/** The same environment without the baseline of naive RAG, which only one that answers at once can have. */
export function withoutRetrieved(env: ToolEnv): ToolEnv {
  const { naiveRag: _, ...others } = env;
  return others;
}

/** An environment with the same tasks and rules that answers a moment later; `crossings` notes how it is asked. */
export function laterEnv(env: ToolEnv): { readonly env: ToolEnv; readonly crossings: Crossings } {
  const crossings: Crossings = { opened: [], answered: [], left: new Set(), closed: 0 };
  const later = (reset: Reset): Reset =>
    asyncReset({
      keyOf: (seed, settings) => reset(seed, settings).key,
      open: async (tasks, settings) => {
        await moment();
        crossings.opened.push(tasks.length);
        return tasks.map(({ seed, environmentSeed }) => reset(seed, settings, environmentSeed));
      },
    });
  const { heldOut, shifted } = env.splits;
  return {
    crossings,
    env: {
      ...withoutRetrieved(env),
      reset: later(env.reset),
      demonstration: later(env.demonstration),
      splits: {
        heldOut: heldOut && { ...heldOut, reset: later(heldOut.reset) },
        shifted: { ...shifted, reset: later(shifted.reset) },
      },
      asyncAnswers: {
        answer: async (turns) => {
          await moment();
          crossings.answered.push(turns.length);
          return turns.map(({ episode, action, settings }) => episode.step(action, settings));
        },
        release: (episodes) => episodes.forEach((episode) => crossings.left.add(episode)),
        close: () => void crossings.closed++,
      },
    },
  };
}

const moment = () => new Promise((resolve) => setImmediate(resolve));
