import type { CallValues } from '../text/turnFormat.ts';
import type { EnvView } from '../domain/envView.ts';
import type { Outcome, Task, Unfinished } from '../envs/episodeRules.ts';
import type { ServerReply } from './serverMessages.ts';
import { observationText } from './serverMessages.ts';

/** An episode on a server, with the server's answer to the agent's latest turn. */
export interface ServerEpisode {
  readonly key: string;
  readonly prompt: string;
  /** The server's answer to the latest turn; null if nothing was sent to it. Called once per turn. */
  readonly lastReply: () => ServerReply | null;
}

/** What the tasks of a server have in common. */
export interface ServerRules {
  readonly host: string;
  readonly solved: number; // sum of rewards from which an episode counts as solved
  readonly shortened: (text: string) => string; // as much of a tool's answer as there is room for
}

/**
 * A task on a server. The server's answer to a turn has arrived before the turn is taken here. The rewards are added up and paid with the
 * last turn. The reward of an earlier turn counts as its progress, which only the process reward pays.
 */
export function serverTask(
  { key, prompt, lastReply: heard }: ServerEpisode,
  { host, solved, shortened }: ServerRules,
): Task {
  const steps: (EnvView & { kind: 'calls' })['steps'][number][] = [];
  let sum = 0;
  let over = false;
  const worth = (): Unfinished => {
    over = true;
    return { success: sum >= solved, payoff: sum };
  };
  const outcome = (reply: ServerReply, stop: 'found' | 'answered', ends: boolean): Outcome => {
    if (reply.kind === 'error') {
      // the environment threw: the agent reads the error and pays the format penalty, as when a tool throws
      const result = { observation: [shortened(reply.says)], progress: 0, refused: true } as const;
      return ends ? { ...result, stop, ...worth() } : { ...result, stop: null, success: false };
    }
    const { text, refused } = observationText(reply.observation);
    sum += reply.reward;
    const result = { observation: [shortened(text)], ...(refused && { refused }) };
    if (reply.done || ends) return { ...result, progress: 0, stop, ...worth() };
    return { ...result, progress: reply.reward, stop: null, success: false };
  };
  const resultOf = (reply: ServerReply | null) =>
    reply === null ? '' : reply.kind === 'error' ? reply.says : observationText(reply.observation).text;
  return {
    key,
    prompt: [],
    question: prompt,
    call([tool = '', json = '{}'], turn) {
      const reply = heard();
      if (reply === null) return null;
      const values = Object.values(JSON.parse(json) as CallValues).map((value) => JSON.stringify(value));
      steps.push({ turn, text: `${tool}(${values.join(', ')})`, result: resultOf(reply), shown: null });
      return outcome(reply, 'found', false);
    },
    answer([text = ''], turn) {
      const reply = heard();
      steps.push({ turn, text, result: resultOf(reply), shown: null });
      return reply === null
        ? { observation: [''], progress: 0, stop: 'answered', ...worth() }
        : outcome(reply, 'answered', true);
    },
    needs: () => [],
    outOfTurns: worth,
    expert: noPlayer,
    demonstrate: noPlayer,
    view: () => ({
      kind: 'calls',
      title: host,
      prompt,
      shown: null,
      steps: [...steps],
      earned: over ? { reward: sum } : null,
    }),
  };
}

function noPlayer(): never {
  throw new Error('A server has no player of its own whose turns could be shown or imitated.');
}
