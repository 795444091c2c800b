import type { EpisodeOpener, Reset } from './env.ts';

/** For an environment that answers later. Calling it throws: a caller that does so cannot wait for the environment. */
export function asyncReset(opener: EpisodeOpener): Reset {
  const refuse = (): never => {
    throw new Error(
      'This environment takes time to answer, and only training, evaluation and branches can wait for it. Choose another environment here.',
    );
  };
  return Object.assign(refuse, { opener });
}
