import type { Opening, Reset } from './env.ts';

/** The tasks of an environment that answers later. What can't wait for it calls the function itself, and hears why not. */
export function laterReset(opening: Opening): Reset {
  const refuse = (): never => {
    throw new Error(
      'This environment takes time to answer, and only training, evaluation and branches can wait for it. Choose another environment here.',
    );
  };
  return Object.assign(refuse, { opening });
}
