import { expect, test } from 'vitest';
import { parseConfig } from '../src/config/config.ts';
import { YOUR_ENVIRONMENT } from '../src/config/environments.ts';
import { BackendError } from '../src/model/policy.ts';
import { withFittingBatch } from '../src/session/session.ts';

const tooLarge = new BackendError('The run needs 5 GiB.', 'Use fewer rollouts.', ['rows']);
const config = (env: string) => parseConfig({ env, prompts: 32 });

test.each([tooLarge, new RangeError('Array buffer allocation failed')])(
  'long episodes of one’s own environment get fewer prompts: half as many until they fit (%s)',
  async (error) => {
    const tried: number[] = [];
    const { config: fitting, opened } = await withFittingBatch(config(YOUR_ENVIRONMENT), ({ prompts }) => {
      tried.push(prompts);
      return prompts > 8 ? Promise.reject(error) : Promise.resolve('open');
    });
    expect([tried, fitting.prompts, opened]).toEqual([[32, 16, 8], 8, 'open']);
  },
);

test('it gives up at four prompts, at another error, and in every shipped environment at once', async () => {
  const tried: number[] = [];
  const refuse = (error: Error) => (knobs: { readonly prompts: number }) => {
    tried.push(knobs.prompts);
    return Promise.reject(error);
  };
  await expect(withFittingBatch(config(YOUR_ENVIRONMENT), refuse(tooLarge))).rejects.toBe(tooLarge);
  expect(tried).toEqual([32, 16, 8, 4]);
  const other = new BackendError('No adapter.', 'Use the CPU.');
  await expect(withFittingBatch(config(YOUR_ENVIRONMENT), refuse(other))).rejects.toBe(other);
  await expect(withFittingBatch(config('number-hunt'), refuse(tooLarge))).rejects.toBe(tooLarge);
  expect(tried).toHaveLength(6);
});
