import type { WrittenView } from '../domain/writtenView.ts';
import { EnvironmentFileError } from './declaration.ts';
import { chanceOf, type TaskOf } from './plays.ts';
import type { Reply, Request, Sandbox } from './sandbox.ts';

type WithoutId<R> = R extends Request ? Omit<R, 'id'> : never;
/** A request of an episode, which knows its own number. */
export type EpisodeRequest = WithoutId<Request>;

/** An episode of a person's environment. */
export interface WrittenEpisode {
  readonly task: TaskOf;
  readonly prompt: string;
  readonly shown: WrittenView | null; // by the class before the first turn
  /** Serves requests in order, in one crossing. Throws EnvironmentFileError with the line for a fault of the environment. */
  readonly ask: (requests: readonly EpisodeRequest[]) => readonly Reply[];
}

/** What seeds the chance of all tasks: task 5 is the same task in every run. */
export const TASK_SEED = 0;
/** How many episodes the virtual machine keeps, at most. */
const MOST_OPEN = 1024;

/**
 * Begins episodes in a sandbox. It keeps the latest ones only, since nobody says when an episode is not needed any more.
 * An older one that goes on is played again up to where it was: the same requests give the same episode.
 */
export function openEpisodes(sandbox: Sandbox, mostOpen = MOST_OPEN): (task: TaskOf) => WrittenEpisode {
  const open = new Set<number>(); // those asked longest ago come first
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
