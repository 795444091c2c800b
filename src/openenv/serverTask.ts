import type { CallValues } from '../text/turnFormat.ts';
import type { EnvView } from '../domain/envView.ts';
import type { Outcome, Task, OutOfTurnsResult } from '../envs/episodeRules.ts';
import type { ServerReply } from './serverMessages.ts';
import { observationText } from './serverMessages.ts';

/** An episode on a server, with the server's answer to the agent's latest turn. */
export interface ServerEpisode {
  readonly key: string;
  readonly prompt: string;
  /** The server's answer to the latest turn; null if nothing was sent to it. Called once per turn. */
  readonly lastReply: () => ServerReply | null;
}

/** The rules that all tasks of a server share. */
export interface ServerRules {
  readonly host: string;
  readonly solved: number; // sum of rewards from which an episode counts as solved
  readonly shorten: (text: string) => string; // cuts a tool's answer to the allowed length
}

/**
 * A task on a server. The server's answer to a turn has already arrived when the turn is taken here. The rewards of all
 * turns are added up; the sum is the last turn's share of the outcome reward. The reward of an earlier turn is also its
 * progress, which only the process reward uses.
 */
export function serverTask({ key, prompt, lastReply }: ServerEpisode, { host, solved, shorten }: ServerRules): Task {
  const steps: (EnvView & { kind: 'calls' })['steps'][number][] = [];
  let rewardSum = 0;
  const currentResult = (): OutOfTurnsResult => ({ success: rewardSum >= solved, outcomeShare: rewardSum });
  const outcome = (reply: ServerReply, stop: 'found' | 'answered', isLastTurn: boolean): Outcome => {
    if (reply.kind === 'error') {
      // the environment threw: the agent reads the error and gets the format penalty, as when a tool throws
      const result = { observation: [shorten(reply.message)], progress: 0, refused: true } as const;
      return isLastTurn ? { ...result, stop, ...currentResult() } : { ...result, stop: null, success: false };
    }
    const { text, refused } = observationText(reply.observation);
    rewardSum += reply.reward;
    const result = { observation: [shorten(text)], ...(refused && { refused }) };
    if (reply.done || isLastTurn) return { ...result, progress: 0, stop, ...currentResult() };
    return { ...result, progress: reply.reward, stop: null, success: false };
  };
  const resultOf = (reply: ServerReply | null) =>
    reply === null ? '' : reply.kind === 'error' ? reply.message : observationText(reply.observation).text;
  return {
    key,
    prompt: [],
    question: prompt,
    call([tool = '', json = '{}'], turn) {
      const reply = lastReply();
      if (reply === null) return null;
      const values = Object.values(JSON.parse(json) as CallValues).map((value) => JSON.stringify(value));
      steps.push({ turn, text: `${tool}(${values.join(', ')})`, result: resultOf(reply), shown: null });
      return outcome(reply, 'found', false);
    },
    answer([text = ''], turn) {
      const reply = lastReply();
      steps.push({ turn, text, result: resultOf(reply), shown: null });
      return reply === null
        ? { observation: [''], progress: 0, stop: 'answered', ...currentResult() }
        : outcome(reply, 'answered', true);
    },
    neededWords: () => [],
    outOfTurns: currentResult,
    expert: noPlayer,
    demonstrate: noPlayer,
    view: () => ({
      kind: 'calls',
      title: host,
      prompt,
      shown: null,
      steps: [...steps],
      earned: null,
    }),
  };
}

function noPlayer(): never {
  throw new Error('A server has no player of its own whose turns could be shown or imitated.');
}
