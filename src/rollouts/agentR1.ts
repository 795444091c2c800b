import type { JsonRecord } from '../base/jsonRecord.ts';
import { extrasOf, flagOrNull, has, numberOrNull, objectsOf, textOf, textOrNull } from './jsonFields.ts';
import { ProblemError } from '../base/problem.ts';
import type { Format, ReadingContext } from './rolloutFormat.ts';
import { isGlued, type Piece, segmentsOf, split } from './splitPattern.ts';
import { promptGroup } from './promptGroup.ts';
import { bareRecord, countCalls, countTurns, type RolloutRecord } from './rolloutRecord.ts';

const READ = ['input', 'output', 'steps'];
const FACTS = {
  trajectory_uid: textOrNull,
  step: numberOrNull,
  score: numberOrNull,
  num_steps: numberOrNull,
  acc: flagOrNull,
} as const;

/**
 * Agent-R1's dump: each line is a trajectory of steps. Source: `build_trajectory_dump_entries` in
 * agent_r1/trainer/ppo/ray_trainer.py.
 */
export const agentR1: Format = {
  name: 'agent-r1',
  label: 'Agent-R1',
  keys: 'trajectory_uid, steps',
  recognises: (line) => has(line, 'steps') && (has(line, 'trajectory_uid') || has(line, 'num_steps')),
  read: (line, context) => [readTrajectory(line, context)],
};

function readTrajectory(line: JsonRecord, { pattern }: ReadingContext): RolloutRecord {
  const steps = objectsOf(line, 'steps');
  if (steps.length === 0) throw new ProblemError({ got: 'a trajectory without steps', want: 'at least one step' });
  const pieces: Piece[] = [];
  const firstPrompt = textOf(steps[0]!, 'input');
  const glued = isGlued(firstPrompt, pattern);
  let previous = { input: '', output: '' };
  for (const step of steps) {
    const current = { input: textOf(step, 'input'), output: textOf(step, 'output') };
    const newPart = newPartOf(previous, current.input);
    if (pieces.length === 0) pieces.push(...asHistory(split(newPart, pattern, 'prompt', glued), 'prompt'));
    else pieces.push(...asHistory(split(newPart, pattern, 'observation', glued), 'observation'));
    pieces.push(...split(current.output, pattern, 'action', glued));
    previous = current;
  }
  const segments = segmentsOf(pieces);
  return bareRecord({
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
    extras: [...extrasOf(line, READ, FACTS), ...steps.flatMap((step, i) => extrasOfStep(step, i))],
  });
}

function extrasOfStep(step: JsonRecord, i: number) {
  return extrasOf(step, ['step_index', 'input', 'output', 'gts'], { score: numberOrNull }).map(
    ([name, value]) => [`step ${i}: ${name}`, value] as const,
  );
}

/**
 * The part of a step's prompt that the previous step did not have. All of it if the prompt does not continue the
 * previous step.
 */
function newPartOf(previous: { readonly input: string; readonly output: string }, input: string): string {
  if (previous.input === '') return input;
  const previousText = previous.input + previous.output;
  if (input.startsWith(previousText)) return input.slice(previousText.length);
  const at = previous.output === '' ? -1 : input.lastIndexOf(previous.output);
  return at < 0 ? input : input.slice(at + previous.output.length);
}

/**
 * The pieces of a step's prompt. The agent's text in a prompt is history, not a turn of this step, so it gets the role
 * `as`.
 */
function asHistory(pieces: readonly Piece[], as: 'prompt' | 'observation'): Piece[] {
  return pieces.map((piece) => {
    if (piece.role === 'action') return { ...piece, role: as, kind: as };
    // tools answer in a user message
    return piece.role === 'prompt' && as === 'observation' ? { ...piece, role: as, kind: as } : piece;
  });
}
