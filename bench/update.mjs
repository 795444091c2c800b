// Whole updates of the RL loop, as the page's runs take them: rollout with a tool's answer in it, scores by policy and
// reference, GRPO's credit, two optimizer steps, the report.
import { noProgress } from '../src/domain/progress.ts';
import { parseConfig } from '../src/config/config.ts';
import { openGpuPolicy } from '../src/model/gpu/gpuPolicy.ts';
import { STAGES } from '../src/domain/profile.ts';
import { train } from '../src/rl/trainer.ts';
import { StageClock } from '../src/session/runMeter.ts';
import { chosen, modelOf } from './peer.mjs';
import { quarters } from './quarters.mjs';
import { counted, repeat } from './timing.mjs';
import { accounting } from './workloads.mjs';

const GROUP = 4;
const MINIBATCHES = 2;
/** Passes over all tokens, in forward passes: drawing, scores, the reference's, and learning, which counts thrice. */
const FORWARDS = 6;

/** GRPO on B rows in groups of four, with a reference; nothing is evaluated. @param {import('./peer.mjs').Workload} c */
function configOf(c) {
  return parseConfig({
    ...{ prompts: c.B / GROUP, groupSize: GROUP, minibatches: MINIBATCHES, epochs: 1, decodeChunk: 64 },
    ...{ estimator: 'grpo', critic: 'none', klCoef: 0.001, learningRate: c.lr },
    ...{ updates: 100_000, evalEvery: 0, miEvery: 0 },
  });
}

/**
 * Takes updates for about `seconds`: half of them as they come, which is what they cost; half with each stage waiting for the
 * device, which tells what its parts cost. @param {import('./peer.mjs').Workload} c @param {GPU} gpu
 * @param {{ seconds: number } & import('./peer.mjs').Options} options
 */
export async function updates(c, gpu, { seconds, ...options }) {
  const config = configOf(c);
  const spec = { model: modelOf(c), critic: config.critic, rows: c.B, length: c.T, minibatchRows: c.B / MINIBATCHES };
  const policy = await openGpuPolicy(gpu, spec, { seed: config.seed, ...chosen(options) });
  let fenced = false;
  const clock = new StageClock(() => performance.now());
  const events = train({
    ...{ policy, env: quarters(c.V, c.T), rewardModel: null, config: () => config, lastConfig: config },
    ...{ now: () => performance.now(), yieldToEvents: () => Promise.resolve(), fenced: () => fenced },
    weightQueue: { earlier: [] },
    progress: { ...noProgress(), evaluated: true }, // quarters has no players to compare with
  });
  /** One update; what its rollouts were paid. */
  const update = async () => {
    for (;;) {
      const { value: event } = await events.next();
      if (event.type === 'error') throw new Error(`bench: ${event.message}`);
      clock.enter((event.type === 'phase' && STAGES.find((stage) => stage === event.phase)) || 'other');
      if (event.type === 'metrics') return event.values['critic/score/mean'] ?? NaN;
    }
  };
  const firstReward = await update();
  const counts = await counted(policy, update);
  const updateMs = await repeat(update, seconds / 2);
  fenced = true;
  clock.start();
  const { n } = await repeat(update, seconds / 2);
  clock.stop();
  const { spans } = clock.finish(n, fenced);
  const lastReward = await update();
  policy.destroy();
  const stageMs = Object.fromEntries(
    STAGES.map((stage) => [stage, spans.reduce((sum, span) => sum + (span.stage === stage ? span.ms : 0), 0) / n]),
  );
  const { tokens, flops } = accounting(c);
  return {
    ...{ updateMs, stageMs, counts, firstReward, lastReward, flops: (FORWARDS / 3) * flops, tokens },
    drawn: tokens / 2, // the agent's two quarters
  };
}
