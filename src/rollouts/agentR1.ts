import type { JsonRecord } from '../base/jsonRecord.ts';
import { unreadValues, flagOrNull, has, numberOrNull, objectListAt, textAt, textOrNull } from './jsonFields.ts';
import { ProblemError } from '../base/problem.ts';
import type { RolloutFormat, ReadingContext } from './rolloutFormat.ts';
import { hasRolesRunTogether, type Piece, segmentsOf, splitByRole } from './splitPattern.ts';
import { promptGroup } from './promptGroup.ts';
import { recordWithDefaults, countCalls, countTurns, type RolloutRecord } from './rolloutRecord.ts';

const KEYS_READ = ['input', 'output', 'steps'];
const SCALAR_READERS = {
  trajectory_uid: textOrNull,
  step: numberOrNull,
  score: numberOrNull,
  num_steps: numberOrNull,
  acc: flagOrNull,
} as const;

/** Each line is a trajectory of steps. Source: `build_trajectory_dump_entries` in agent_r1/trainer/ppo/ray_trainer.py. */
export const agentR1: RolloutFormat = {
  name: 'agent-r1',
  label: 'Agent-R1',
  keys: 'trajectory_uid, steps',
  recognises: (line) => has(line, 'steps') && (has(line, 'trajectory_uid') || has(line, 'num_steps')),
  read: (line, context) => [readTrajectory(line, context)],
};

function readTrajectory(line: JsonRecord, { pattern }: ReadingContext): RolloutRecord {
  const steps = objectListAt(line, 'steps');
  if (steps.length === 0) throw new ProblemError({ got: 'a trajectory without steps', want: 'at least one step' });
  const pieces: Piece[] = [];
  const firstPrompt = textAt(steps[0]!, 'input');
  const rolesRunTogether = hasRolesRunTogether(firstPrompt, pattern);
  let previous = { input: '', output: '' };
  for (const step of steps) {
    const current = { input: textAt(step, 'input'), output: textAt(step, 'output') };
    const newText = newTextOf(previous, current.input);
    if (pieces.length === 0)
      pieces.push(...asHistory(splitByRole(newText, pattern, 'prompt', rolesRunTogether), 'prompt'));
    else pieces.push(...asHistory(splitByRole(newText, pattern, 'observation', rolesRunTogether), 'observation'));
    pieces.push(...splitByRole(current.output, pattern, 'action', rolesRunTogether));
    previous = current;
  }
  const segments = segmentsOf(pieces);
  return recordWithDefaults({
    id: textOrNull(line, 'trajectory_uid'),
    step: numberOrNull(line, 'step'),
    group: promptGroup(firstPrompt),
    reward: numberOrNull(line, 'score'),
    rewardParts: steps.flatMap((step, i) => {
      const score = numberOrNull(step, 'score');
      return score === null ? [] : [[`step ${numberOrNull(step, 'step_index') ?? i}`, score] as const];
    }),
    success: flagOrNull(line, 'acc'),
    turns: numberOrNull(line, 'num_steps') ?? countTurns(segments), // a step without any text counts too
    toolCalls: countCalls(segments),
    segments,
    guessed: ['roles', 'group'],
    extras: [...unreadValues(line, KEYS_READ, SCALAR_READERS), ...steps.flatMap((step, i) => extrasOfStep(step, i))],
  });
}

function extrasOfStep(step: JsonRecord, i: number) {
  return unreadValues(step, ['step_index', 'input', 'output', 'gts'], { score: numberOrNull }).map(
    ([name, value]) => [`step ${i}: ${name}`, value] as const,
  );
}

/** What the previous step's prompt did not have. All of it if the prompt does not continue the previous step. */
function newTextOf(previous: { readonly input: string; readonly output: string }, input: string): string {
  if (previous.input === '') return input;
  const previousText = previous.input + previous.output;
  if (input.startsWith(previousText)) return input.slice(previousText.length);
  const outputStart = previous.output === '' ? -1 : input.lastIndexOf(previous.output);
  return outputStart < 0 ? input : input.slice(outputStart + previous.output.length);
}

/** The agent's text in a prompt is history, not a turn of this step, so it gets the role `as`. */
function asHistory(pieces: readonly Piece[], as: 'prompt' | 'observation'): Piece[] {
  return pieces.map((piece) => {
    if (piece.role === 'action') return { ...piece, role: as, kind: as };
    // tools answer in a user message
    return piece.role === 'prompt' && as === 'observation' ? { ...piece, role: as, kind: as } : piece;
  });
}
