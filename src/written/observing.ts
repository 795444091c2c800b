import { parameterName, type ToolFace } from '../text/toolSchema.ts';
import { EnvironmentFileError } from './script/declaration.ts';
import type { PastTurn, Reply, Request, Sandbox } from './script/sandbox.ts';

/** What the agent reads after a turn: the answer, or what `observe` returned instead of all turns so far. */
export const readText = ({ observed, text, refused }: Reply): string => observed ?? text ?? refused ?? '';

/**
 * The sandbox, whose replies to calls also have what the class's `observe` returns after them, unless the episode is
 * over. Several calls of one episode in a row get that of the last. Throws EnvironmentFileError if the class has no
 * `observe`.
 */
export function observing(sandbox: Sandbox, tools: readonly ToolFace[]): Sandbox {
  const histories = new Map<number, PastTurn[]>(); // by episode
  const remember = (request: Request, { text, refused }: Reply) => {
    if (request.op === 'close') histories.delete(request.id);
    if (request.op === 'open') histories.set(request.id, []);
    if (request.op !== 'call') return;
    const { parameters = [] } = tools.find(({ name }) => name === request.tool) ?? {};
    const values = parameters.map((each, at) => [parameterName(each), request.values[at]] as const);
    const given = Object.fromEntries(values.filter(([, value]) => value !== undefined));
    histories.get(request.id)?.push({ tool: request.tool, arguments: given, answer: text ?? refused ?? '' });
  };
  return {
    statics: sandbox.statics,
    counted: (play) => sandbox.counted(play),
    dispose: () => sandbox.dispose(),
    serve(requests) {
      const replies = [...sandbox.serve(requests)];
      const lastCalls = new Map<number, number>(); // by episode, the index of its last call
      for (const [at, request] of requests.entries()) {
        const reply = replies[at] ?? {};
        if (reply.problem !== undefined) continue;
        remember(request, reply);
        if (request.op === 'call' && !reply.over) lastCalls.set(request.id, at);
      }
      if (lastCalls.size === 0) return replies;
      const asked = [...lastCalls].map(([id]): Request => ({ op: 'observe', id, history: histories.get(id) ?? [] }));
      const observed = sandbox.serve(asked);
      for (const [i, at] of [...lastCalls.values()].entries()) {
        const { none, text, problem, line } = observed[i] ?? {};
        if (none) throw new EnvironmentFileError(NO_OBSERVE, null);
        replies[at] =
          problem === undefined ? { ...replies[at], observed: text ?? '' } : { problem, line: line ?? null };
      }
      return replies;
    },
  };
}

const NO_OBSERVE =
  'The run shows what observe() returns at a turn, and this class has no observe(). Add observe(history), or set shown to everything or last-turns.';
