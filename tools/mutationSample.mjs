import { createHash } from 'node:crypto';

/**
 * Whether a mutant is among those that are tried: a share of them by seed, or the ones named by MUTATION_ONLY. Its number
 * depends on the sources that are changed alone, so that other tests are shown the same mutants.
 * @param {string} id @param {NodeJS.ProcessEnv} env
 */
export function isDrawn(id, env) {
  const only = env['MUTATION_ONLY'];
  if (only !== undefined) return only.split(',').includes(id);
  const draw = createHash('sha256').update(`${env['MUTATION_SEED']} ${id}`).digest().readUInt32BE() / 2 ** 32;
  return draw < Number(env['MUTATION_SHARE'] ?? 1);
}

/** Refuses the mutants that are not drawn before any test is run. Stryker has no sampling of its own. */
class Sample {
  async init() {}
  /** @param {readonly { readonly id: string }[]} mutants */
  async check(mutants) {
    const reason = 'not drawn';
    return Object.fromEntries(
      mutants.map(({ id }) => [
        id,
        isDrawn(id, process.env) ? { status: 'passed' } : { status: 'compileError', reason },
      ]),
    );
  }
  /** All at once. @param {readonly { readonly id: string }[]} mutants */
  async group(mutants) {
    return [mutants.map(({ id }) => id)];
  }
}

/** What Stryker looks for in a plugin. */
export const strykerPlugins = [{ kind: 'Checker', name: 'sample', injectableClass: Sample }];
