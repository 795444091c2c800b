import { expect, test } from 'vitest';
import { CheckpointError } from '../src/runs/checkpoint.ts';
import { FIELDS } from '../src/config/config.ts';
import { ConfigError } from '../src/config/configProblem.ts';
import { KnobsError } from '../src/session/backendKnobs.ts';
import { errorEvent } from '../src/session/errorEvent.ts';
import { BackendError } from '../src/model/policy.ts';

test('a backend that cannot hold a run says what to do; its sizes become the knobs to look at', () => {
  const error = new BackendError('The run needs 5.0 GiB.', 'Use fewer rollouts.', ['rows', 'minibatchRows', 'length']);
  expect(errorEvent(error, false)).toEqual({
    ...{ type: 'error', message: 'The run needs 5.0 GiB.', hint: 'Use fewer rollouts.', fatal: false },
    fields: ['prompts', 'groupSize', 'minibatches', 'maxTurns'],
  });
  const fitting = new KnobsError('The run needs 5.0 GiB.', 'It fits with Prompts 8.', ['prompts']);
  expect(errorEvent(fitting, false).fields).toEqual(['prompts']);
});

test('knobs that were refused are named in the hint by their labels; problems of no knob are not', () => {
  const value = { place: 'prompts', what: '0 isn’t a whole number from 1.', remedy: 'Tasks in a batch.' };
  const nobody = { place: 'nobody', what: 'unknown.' };
  const event = errorEvent(new ConfigError([value, nobody]), false);
  expect(event.message).toBe('prompts: 0 isn’t a whole number from 1. Tasks in a batch.\nnobody: unknown.');
  expect(event.fields).toEqual(['prompts']);
  expect(event.hint).toBe(`Change ${FIELDS.prompts.label}.`);
  expect(errorEvent(new ConfigError([nobody]), false).hint).toBe('Change the knobs named.');
});

test('a checkpoint that cannot be read is told as such, so that the page drops it', () => {
  const event = errorEvent(new CheckpointError('It has no weights.'), false);
  expect(event.cause).toBe('bad-checkpoint');
  expect(event.message).toBe('The saved run can’t be resumed. It has no weights.');
});

test('after anything else the hint says whether the run is unharmed', () => {
  expect(errorEvent(new Error('boom'), true)).toMatchObject({ message: 'The engine stopped: boom', fatal: true });
  expect(errorEvent('boom', true).hint).toContain('Start again');
  expect(errorEvent('boom', false).hint).toContain('unharmed');
});
