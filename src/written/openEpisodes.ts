import type { WrittenView } from '../domain/writtenView.ts';
import { EnvironmentFileError } from './declaration.ts';
import { chanceOf, type TaskOf } from './plays.ts';
import type { Reply, Request, Sandbox } from './sandbox.ts';

type WithoutId<R> = R extends Request ? Omit<R, 'id'> : never;
/** A request to the sandbox without the episode's number, which is added here. */
export type EpisodeRequest = WithoutId<Request>;

/** An episode of a person's environment. */
export interface WrittenEpisode {
  readonly task: TaskOf;
  readonly prompt: string;
  readonly shown: WrittenView | null; // the class's drawing before the first turn
  /** Serves requests in order, in one call of the virtual machine. If the environment has a fault, throws EnvironmentFileError with the line. */
  readonly ask: (requests: readonly EpisodeRequest[]) => readonly Reply[];
}

/** Seeds the random numbers of all tasks. It is constant, so task 5 is the same task in every run. */
export const TASK_SEED = 0;
/** Most episodes that the virtual machine keeps. */
const MOST_OPEN = 1024;

/**
 * Begins episodes in a sandbox. The sandbox keeps only the latest ones, because callers don't say when they are done with an episode.
 * If an older one continues, its past requests are sent again first: the same requests give the same episode.
 */
export function openEpisodes(sandbox: Sandbox, mostOpen = MOST_OPEN): (task: TaskOf) => WrittenEpisode {
  const open = new Set<number>(); // least recently used first
  let count = 0;
  const room = (id: number): readonly Request[] => {
    open.delete(id);
    open.add(id);
    const [oldest] = open;
    if (open.size <= mostOpen || oldest === undefined) return [];
    open.delete(oldest);
    return [{ op: 'close', id: oldest }];
  };
  return (task) => {
    const id = count++;
    const begin: Request = { op: 'open', id, ...task, chance: chanceOf(TASK_SEED, task) };
    const done: Request[] = [];
    const serve = (requests: readonly Request[]): readonly Reply[] => {
      const before = [...(open.has(id) ? [] : [begin, ...done]), ...room(id)];
      const replies = sandbox.serve([...before, ...requests]).slice(before.length);
      const fault = replies.find(({ problem }) => problem !== undefined);
      if (fault) {
        const place = `${task.split} task ${task.index}, turn ${1 + done.filter(({ op }) => op === 'call').length}`;
        throw new EnvironmentFileError(`${fault.problem ?? ''} (${place})`, fault.line ?? null);
      }
      done.push(...requests);
      return replies;
    };
    const { text: prompt = '', shown = null } = begun();
    return { task, prompt, shown, ask: (requests) => serve(requests.map((request): Request => ({ ...request, id }))) };

    function begun(): Reply {
      const [reply = {}] = sandbox.serve([...room(id), begin]).slice(-1);
      if (reply.problem !== undefined) {
        throw new EnvironmentFileError(`${reply.problem} (${task.split} task ${task.index})`, reply.line ?? null);
      }
      return reply;
    }
  };
}
