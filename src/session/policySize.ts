import { contradictions } from '../config/contradictions.ts';
import { ConfigError } from '../config/configProblem.ts';
import { parameterCount } from '../model/architecture.ts';
import type { FolderAnswer, FolderTask } from '../wire/folderMessages.ts';
import { openEnvironment } from './environment.ts';
import type { Host } from './host.ts';
import { policySpec } from './policySpec.ts';

/**
 * The size of the policy that a run with these knobs would train. Nothing is allocated. Throws ConfigError if the knobs
 * contradict each other, and what `openEnvironment` throws. With `model` set to checkpoint this is BaseNeededError; the
 * checkpoint's card states its size.
 */
export async function policySize(
  { config, facts }: Extract<FolderTask, { kind: 'weigh' }>,
  host: Pick<Host, 'shippedFile' | 'ownEnvironment'>,
): Promise<Extract<FolderAnswer, { kind: 'weighed' }>> {
  const problems = contradictions(config);
  if (problems.length > 0) throw new ConfigError(problems);
  const { env } = await openEnvironment(config, { facts, chatTokenizer: null }, host);
  const { model } = policySpec(config, env, null);
  return { kind: 'weighed', parameters: parameterCount(model), vocabulary: env.vocabulary.length };
}
