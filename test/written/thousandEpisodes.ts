import { checksumOf } from '../../src/base/checksum.ts';
import { classSettings } from '../../src/written/classSettings.ts';
import { readDeclaration } from '../../src/written/script/declaration.ts';
import { type Chooser, chancePlayer, EXPERT, playTasks, type TaskId } from '../../src/written/plays.ts';
import { openSandbox } from '../../src/written/script/sandbox.ts';

/** The checksum of a thousand tasks of an environment, all that was said and earned, as its expert and a random player play them; some twice where it has fewer. */
export async function checksumOfPlays(source: string, machine: BufferSource): Promise<string> {
  const declaration = readDeclaration(source);
  const sandbox = await openSandbox(machine, declaration);
  const { tasks, maxTurns } = classSettings(sandbox.statics);
  const list = Array.from({ length: 1000 }, (_, at): TaskId => {
    const split = at % 2 === 0 ? 'train' : 'test';
    return { split, index: (at >> 1) % tasks[split] };
  });
  const players: readonly (Chooser | typeof EXPERT)[] = [EXPERT, chancePlayer(declaration.tools, 1)];
  const plays = players.map((player) => playTasks(sandbox, declaration.tools, list, { seed: 1, maxTurns, player }));
  sandbox.dispose();
  const said = plays.flat().map(({ prompt, moves, replies, parts, problems }) => ({
    ...{ prompt, moves, parts, problems },
    replies: replies.map(({ text, refused, over, paid, state }) => ({ text, refused, over, paid, state })),
  }));
  return checksumOf(said);
}
