import {
  clipTightly,
  fallIntoTheTrap,
  holdToTheStart,
  nextTurn,
  oneUpdate,
  showStandingOut,
  showWhatWasPaid,
  startWithCritic,
} from './actions.ts';
import { showDamage } from './damage.ts';

/** A chapter: at most 150 words with its formulas, and something to do in the lab beside it. */
export interface Chapter {
  readonly id: string;
  readonly title: string;
  readonly text: readonly string[]; // paragraphs
  readonly formulas: readonly string[]; // as the code has them
  readonly source: string; // file, and where the idea is from
  readonly task: string; // what the button says
  readonly act: () => void;
  readonly look: string; // what is to be seen then
}

/** The nine chapters, in the order they are read. */
export const CHAPTERS: readonly Chapter[] = [
  {
    id: 'rollout',
    title: 'What is a rollout?',
    text: [
      'The agent draws one token after the other. When it closes a call, the environment answers with an observation, and the agent reads on. All that, from the prompt to the end, is one rollout; one call with its answer is a turn.',
      'A batch holds several prompts, each rolled out several times. The copies differ only because tokens are drawn by chance, and that difference is all there is to learn from.',
    ],
    formulas: ['token ~ softmax(logits / τ) over the words the grammar allows'],
    source: 'src/rl/rollout.ts, src/gpu/kernels/decode_sample.wgsl',
    task: 'Play the next turn',
    act: nextTurn,
    look: 'Each press shows one turn: what the agent called, then what came back. The environment beside it keeps up.',
  },
  {
    id: 'mask',
    title: 'The action mask',
    text: [
      'Every token has a role: prompt, action or observation. The policy drew the actions alone, so only they can be graded.',
      'Two masks see to that. The loss mask keeps the others out of the loss; the advantage mask keeps their advantage at 0. With the loss mask off alone they only count in the mean: nothing pushes them. With both off the agent is paid for text it did not write.',
      'Measured on number hunt with six filler words an observation, solved share of all tasks, both off, eight seeds: after 40 updates −20 points (95 % −30 to −10, lower on all), after 100 −5 (−18 to +8): cannot tell. The loss mask alone, GRPO, eight seeds, 60 updates: +1 (−6 to +8): cannot tell.',
    ],
    formulas: ['m = 1 where role = action; off: where role = action or observation', 'push = m · A · ρ · share'],
    source: 'src/rl/credit.ts, responseMask; Agent-R1 calls it action mask, verl response mask',
    task: 'Turn both masks off, one update',
    act: showDamage,
    look: 'The colours are pushes on log π. A word of the tool is chosen: it is ▲ or ▼, with the numbers below it in the inspector. Hold M for the same batch with both masks on. Under Runs, the same is trained on five seeds.',
  },
  {
    id: 'advantage',
    title: 'Advantage',
    text: [
      'An advantage says how much better a rollout went than expected. GRPO expects what the other rollouts of the same prompt got: it takes off their mean and divides by their spread. Every action token of the rollout carries that number.',
      'Where all rollouts score the same (within 10⁻⁶), it is exactly 0: this group teaches nothing.',
    ],
    formulas: ['S = Σ rewards of the rollout', 'A = (S − mean) / (std + 10⁻⁶), std with n − 1'],
    source: 'src/rl/advantages.ts, groupRelative; GRPO, arXiv 2402.03300, §4.1.2',
    task: 'Show the rollout that stood out',
    act: showStandingOut,
    look: 'Of all rollouts of the batch this one has the largest advantage. Above it stands the sum with its numbers.',
  },
  {
    id: 'clip',
    title: 'The clip',
    text: [
      'A batch is used for several optimizer steps. After the first, the policy is no longer the one that drew the tokens; the ratio ρ says how much likelier it has made one. PPO stops rewarding a token once ρ has left 1 ± ε: the gradient is then exactly 0.',
      'Old log-probabilities are recomputed before the first step, so there ρ = 1 and nothing is clipped. A third bound c caps the loss where A < 0.',
    ],
    formulas: ['ρ = π / π_old', 'L = max(−A·ρ, −A·clip(ρ, 1 − ε₋, 1 + ε₊)); where A < 0 at most −A·c'],
    source: 'src/rl/objective.ts, surrogate; PPO, arXiv 1707.06347, eq. 7; dual clip, arXiv 1912.09729',
    task: 'Clip at ±0.02, one update',
    act: clipTightly,
    look: 'Colours are ratios; a notch in the corner is a token that was clipped at the last step. The default is ±0.2.',
  },
  {
    id: 'kl',
    title: 'KL to the reference',
    text: [
      'The reference is the policy the run began with. A KL penalty pulls the policy back to it: in the loss with weight β, or taken off the reward of each action token.',
      'It cannot be computed exactly from one drawn token, only estimated. k1 can be negative and has the wrong gradient in a loss; k3 never is negative and is the default.',
    ],
    formulas: ['δ = log π − log π_ref', 'k1 = δ, k2 = ½δ², k3 = e^−δ − 1 + δ', 'loss + β·k'],
    source: 'src/rl/objective.ts, klEstimate; J. Schulman, “Approximating KL divergence”',
    task: 'Set β to 0.5, one update',
    act: holdToTheStart,
    look: 'Colours are δ before the update. It grows as the policy leaves its start, and less with β than without.',
  },
  {
    id: 'critic',
    title: 'The critic',
    text: [
      'PPO has no group to compare with. A critic predicts, at every token, the reward still to come; the advantage is how far things went better than that, summed up with decay λ.',
      'k + 1 is the next token inside the advantage mask. An observation in between costs no decay: credit walks from agent token to agent token. Advantages are then whitened and masked again.',
    ],
    formulas: ['δ_k = r_k + γ·V_{k+1} − V_k', 'A_k = δ_k + γλ·A_{k+1}', 'return_k = A_k + V_k'],
    source: 'src/rl/advantages.ts, gae; arXiv 1506.02438, eq. 16',
    task: 'Start PPO with a critic',
    act: startWithCritic,
    look: 'Colours are values: what the critic expects before each token. At first they say nothing; give it twenty updates.',
  },
  {
    id: 'trap',
    title: 'The echo trap',
    text: [
      'With few prompts, many passes and no entropy bonus the policy settles on one path, whatever it reads. Its rollouts become the same, so do their scores, and advantages are 0: it cannot learn its way out.',
      'In RAGEN’s Echo Trap reward rises, then collapses. Here success stays low; in two of eight runs it then fell by half: premature, input-blind convergence. The monitor tells the two apart. Where attempts have grown alike it says TRAP if success has lost half of what it had won, or if turns go with what was read less than three times as often as chance has it before half of what there was to win was won.',
    ],
    formulas: ['spread ≤ ½ · best, flat ≥ 0.7, entropy ≤ ½ · first'],
    source: 'src/rl/monitor.ts (other signs stand there); RAGEN, arXiv 2504.20073',
    task: 'Break it',
    act: fallIntoTheTrap,
    look: 'Watch the spread of rewards fall and the lamp above. It does not happen on every seed: where chance never wins, nothing begins.',
  },
  {
    id: 'process',
    title: 'Process reward',
    text: [
      'An outcome reward is paid once, at the last action token of a solved task. A process reward is paid at the call that helped, so that credit need not travel.',
      'Number hunt pays the share of the search space, in bits, that a call rules out. It shapes: a run may learn to please it instead of solving the task, which is why success is measured apart.',
    ],
    formulas: ['r = w_outcome·solved + w_process·progress − penalties, each at its token'],
    source: 'src/envs/numberHunt.ts, src/rl/rollout.ts; Agent-R1',
    task: 'Show what was paid where',
    act: showWhatWasPaid,
    look: 'Colours are rewards. The parts stand in the inspector for the token, and beside the environment for the rollout.',
  },
  {
    id: 'kernels',
    title: 'The kernels',
    text: [
      'Nothing here calls a library for tensors. Forward and backward pass, sampler, credit, loss and AdamW are WGSL kernels; each opens with its maths, its shapes and what runs in parallel. Buffers, bind groups and pipelines are made once, before the first update.',
      'The CPU backend computes the same in TypeScript and WebAssembly, and is what the kernels are tested against.',
    ],
    formulas: ['awaited read-backs of an update = chunks of decoding + numbers (1) + weights kept (1)'],
    source: 'src/gpu/kernels, src/model/gpu; src/model/cpu',
    task: 'Take one update',
    act: oneUpdate,
    look: 'The line at the bottom counts dispatches, submits and read-backs of the update. On the CPU backend no kernel is dispatched and that number is 0; submits count its calls, and read-backs what was asked of it. Profile, above, times each kernel beside its WGSL.',
  },
];
