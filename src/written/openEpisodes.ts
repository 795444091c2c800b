import type { WrittenView } from '../domain/envView.ts';
import { EnvironmentFileError } from './script/declaration.ts';
import { randomKeyOf, type TaskId } from './plays.ts';
import type { Reply, Request, Sandbox } from './script/sandbox.ts';

type WithoutId<R> = R extends Request ? Omit<R, 'id'> : never;
/** A request to the sandbox without the episode's id, which is added here. */
export type EpisodeRequest = WithoutId<Request>;

/** An episode of a person's environment. */
export interface WrittenEpisode {
  readonly task: TaskId;
  readonly prompt: string;
  readonly shown: WrittenView | null; // the class's drawing before the first turn
  /**
   * Serves requests in order, in one call of the virtual machine. If the environment has a fault, throws
   * EnvironmentFileError with the line.
   */
  readonly ask: (requests: readonly EpisodeRequest[]) => readonly Reply[];
}

/** Seeds the random numbers of all tasks. It is constant, so task 5 is the same task in every run. */
export const TASK_SEED = 0;
/** Limit on the episodes that the virtual machine keeps. */
const MAX_OPEN_EPISODES = 1024;

/**
 * Returns a function that begins episodes in a sandbox. The sandbox keeps only the most recently used episodes, because
 * callers don't say when they are done with one. If an older episode continues, its past requests are sent again first;
 * the same requests give the same episode.
 */
export function openEpisodes(sandbox: Sandbox, maxOpen = MAX_OPEN_EPISODES): (task: TaskId) => WrittenEpisode {
  const openIds = new Set<number>(); // least recently used first
  let count = 0;
  const closeOldest = (id: number): readonly Request[] => {
    openIds.delete(id);
    openIds.add(id);
    const [oldest] = openIds;
    if (openIds.size <= maxOpen || oldest === undefined) return [];
    openIds.delete(oldest);
    return [{ op: 'close', id: oldest }];
  };
  return (task) => {
    const id = count++;
    const openRequest: Request = { op: 'open', id, ...task, chance: randomKeyOf(TASK_SEED, task) };
    const pastRequests: Request[] = [];
    const serve = (requests: readonly Request[]): readonly Reply[] => {
      const setup = [...(openIds.has(id) ? [] : [openRequest, ...pastRequests]), ...closeOldest(id)];
      const replies = sandbox.serve([...setup, ...requests]).slice(setup.length);
      const fault = replies.find(({ problem }) => problem !== undefined);
      if (fault) {
        const place = `${task.split} task ${task.index}, turn ${1 + pastRequests.filter(({ op }) => op === 'call').length}`;
        throw new EnvironmentFileError(`${fault.problem ?? ''} (${place})`, fault.line ?? null);
      }
      pastRequests.push(...requests);
      return replies;
    };
    const { text: prompt = '', shown = null } = beginEpisode();
    return { task, prompt, shown, ask: (requests) => serve(requests.map((request): Request => ({ ...request, id }))) };

    function beginEpisode(): Reply {
      const [reply = {}] = sandbox.serve([...closeOldest(id), openRequest]).slice(-1);
      if (reply.problem !== undefined) {
        throw new EnvironmentFileError(`${reply.problem} (${task.split} task ${task.index})`, reply.line ?? null);
      }
      return reply;
    }
  };
}
