import type { ChapterTexts } from './shape.ts';
import { ALGORITHMS } from '../../config/algorithms.ts';
import { DEFAULTS, type RunConfig } from '../../config/fields.ts';
import { equation, KL_DELTA, KL_FORMULAS } from '../../config/formula.ts';

const GRPO: RunConfig = { ...DEFAULTS, ...ALGORITHMS.grpo.set };
const PPO: RunConfig = { ...DEFAULTS, ...ALGORITHMS.ppo.set };

/** Formulas of the chapters, written as beside the knobs. */
const CHAPTER_FORMULAS = {
  advantage: [equation('score', GRPO), equation('advantage', GRPO)],
  critic: [equation('advantage', PPO), equation('whiten', PPO)],
  clip: [equation('ratio', GRPO), equation('policy', GRPO)],
  kl: [KL_DELTA, Object.entries(KL_FORMULAS).map(([k, of]) => `${k} = ${of}`).join(', '), equation('loss', GRPO)], // prettier-ignore
} as const satisfies Record<string, readonly string[]>;

/** The chapters, in reading order. Each has at most 150 words, including its formulas. */
export const CHAPTER_TEXTS: ChapterTexts = {
  rollout: {
    title: 'What is a rollout?',
    text: [
      'A language agent acts in a Markov decision process. The state is all tokens so far. An action is the next token, drawn by the policy: the agent’s model. When the agent has finished a call, the tool answers with an observation: tokens that the policy didn’t draw. Then the agent continues. It gets a reward at the end and, in this environment, for each call that makes progress.',
      'One episode from the prompt to the end is a rollout; one call with its answer is a turn. While the agent writes, a grammar allows only tokens that fit the format of a call or an answer. A batch has several prompts, each rolled out several times. Rollouts of the same prompt differ only by chance, and the agent learns from that difference.',
    ],
    formulas: ['token ~ softmax(logits / τ) over the words the grammar allows (τ: temperature)'],
    exercises: {
      drawn: {
        task: 'Count them',
        question:
          'Take the eight rollouts of update 1 in the recording. Count all their tokens, also those of prompts and observations. What share of them did the agent draw?',
        choices: { under: 'under a third', middle: 'a third to two thirds', over: 'over two thirds' },
        seen: 'Of {tokens:count} tokens the agent drew {drawn:count}, that is {share:percent}.',
        why: 'The rest is prompt and tool text. The agent reads it; training must not grade it.',
        cannot: 'There are no rollouts in view to count.',
      },
    },
  },
  mask: {
    title: 'The masks',
    text: [
      'The policy drew only the action tokens. What happens to a tool’s words? One of three things.',
      'Graded, with both masks off: the agent is rewarded for text that it did not write. That is wrong. Left out, the usual: the loss mask keeps them out of the loss, the advantage mask keeps their advantage at 0. Predicted (ECHO): the observation loss makes them likelier whatever the reward, so the agent learns what its tools answer.',
      'With both masks off, number hunt with filler words solved 20 points less after 40 updates (eight seeds, 95 % interval −30 to −10), and 5 points less after 100 (−18 to +8), which may be chance.',
    ],
    formulas: [
      'm = 1 where role = action (mask off: action or observation)',
      'push = m · A · ρ · weight in the loss',
      'push of a predicted word = λ / number of such words',
    ],
    exercises: {
      both: {
        task: 'Turn both masks off, one update',
        question: 'Both masks off: does the policy loss push words that the tool wrote?',
        choices: { none: 'at none of them', some: 'at some of them' },
        seen: 'The policy loss pushed {pushed:count} of the tool’s {words:count} words.',
        why: 'The word that was pushed hardest is selected in the lab, with its numbers in the inspector. Hold M to see the same batch with both masks on.',
        cannot: 'No tool answered in this batch, so there is no tool word to look at.',
      },
      loss: {
        task: 'Turn the loss mask alone off, one update',
        question: 'The loss mask off, the advantage mask on: does the policy loss push words that the tool wrote?',
        choices: { none: 'at none of them', some: 'at some of them' },
        seen: 'The policy loss pushed {pushed:count} of the tool’s {words:count} words.',
        why: 'Their advantage is 0, so they get no push. They only count in the mean, which makes the other pushes smaller.',
        cannot: 'No tool answered in this batch, so there is no tool word to look at.',
      },
      predicted: {
        task: 'Both masks on, observation loss 0.05, one update',
        question: 'Rollouts succeed or fail. Which way are the tool’s words pushed?',
        choices: { up: 'all pushed words up', both: 'some up, some down', none: 'not at all' },
        seen: 'Of the tool’s {words:count} tokens, {up:count} were pushed up and {down:count} down.',
        why: 'A prediction is right or wrong by itself, so the reward plays no part. The tags around the words aren’t predicted.',
        cannot: 'No tool answered in this batch, so there is no tool word to look at.',
      },
    },
  },
  advantage: {
    title: 'Advantage',
    text: [
      'An advantage says how much better a rollout went than expected. GRPO compares it with the rollouts of the same prompt: it subtracts their mean reward and divides by their spread. Every action token of the rollout carries that number.',
      'Where all rollouts score the same (within 10⁻⁶), the advantage is exactly 0: this group teaches nothing.',
      'Other group estimators change one step. RLOO compares with the mean of the others. Dr. GRPO doesn’t divide. MaxRL divides by the mean instead of the spread, so rare successes count more: if one rollout of eight scores 1 and the others 0, its advantage is 7, and with GRPO 2.47.',
    ],
    formulas: CHAPTER_FORMULAS.advantage,
    exercises: {
      sum: {
        task: 'One update, then add them up',
        question:
          'Eight rollouts of one prompt, some paid more than others. What is the sum of their eight advantages?',
        choices: { positive: 'above 0', zero: 'exactly 0, up to rounding', negative: 'below 0' },
        seen: 'The {rollouts:count} rollouts scored {mean:number} on average, with a spread of {std:number}. Their advantages add up to {sum:number}.',
        why: 'GRPO subtracts their own mean, so a group only moves probability from its worse rollouts to its better ones. The rollout with the largest advantage is selected in the lab.',
        cannot: 'No group of this batch has scores that differ, or its advantages do not come from groups.',
      },
    },
  },
  credit: {
    title: 'Credit by turn',
    text: [
      'A rollout that fails can have good turns, and GRPO lowers them all. A turn can be compared with turns s of the same prompt: in the same state (GiGPO), or with the same number (MT-GRPO, turn baseline).',
      'MT-GRPO compares rewards r and adds these differences up over later turns. The turn baseline compares R, what was earned from the turn on.',
      'Turn credit C compares no turns. Each turn shares its progress with the turns before it.',
    ],
    formulas: [
      'GiGPO: A = S − mean S + ω·(R_i − mean_s R)',
      'MT-GRPO: A_i = r_i − mean_s r + γ_turn·A_{i+1}',
      'turn baseline: A = R_i − mean_s R',
      'turn credit: A = S − mean S + ω·(C_i − mean C)',
    ],
    exercises: {
      turns: {
        task: 'One update of GiGPO',
        question:
          'GiGPO also compares turns that began in the same state. Do the turns of a rollout still share one advantage?',
        choices: { same: 'yes, one number', differ: 'no, a number for each turn' },
        seen: 'Of {rollouts:count} rollouts with more than one turn, {differing:count} have turns whose advantages differ.',
        why: 'Where rollouts meet, the turn after which more was earned gets more. A turn alone in its state keeps the rollout’s advantage.',
        cannot: 'No rollout of this batch has more than one turn.',
      },
      bias: {
        task: 'A search paid for its answer alone, 10 updates of each',
        question:
          'MT-GRPO subtracts one more mean for each further turn. How many turns does the agent take, beside the turn baseline?',
        choices: { more: 'more', same: 'about as many', fewer: 'fewer' },
        seen: 'Turns per rollout at the end: {plain:number} with the turn baseline, {biased:number} with MT-GRPO.',
        why: 'MT-GRPO can’t see what a further turn earns on average. Here it pays, so the agent guesses too early.',
        cannot: 'A run has no curve of turns.',
      },
      progress: {
        task: 'One update of turn credit',
        question: 'With turn credit, what advantage do a rollout’s tokens get on average?',
        choices: { same: 'what GRPO gives them', another: 'another' },
        seen: 'Turns differ in {differing:count} of {rollouts:count} rollouts. Averages are up to {apart:number} from the score minus the group’s mean.',
        why: 'Credit is measured from the rollout’s mean. So it moves within a rollout, and the group decides which rollouts win.',
        cannot: 'No rollout of this batch has more than one turn.',
      },
    },
  },
  rows: {
    title: 'A training row for each turn',
    text: [
      'Many trainers make each turn a training row. What the environment shows is its prompt, and the response is its action. So the agent can forget old turns, and a long episode becomes several short rows.',
      'Two rules keep the credit right. The members of a group are episodes, however many turns they have. And an episode’s advantage goes to each of its rows through that row’s own mask.',
      'Public trainers broke both. In SkyRL (#1507) an episode’s rows got the advantage through the mask of the last one. In agent-lightning (#489) each turn counted as a member of its group, and agents stopped calling their tools.',
    ],
    formulas: ['A = S − mean of S over episodes', 'A_i = A · m_i (i: row of the episode)'],
    exercises: {
      broadcast: {
        task: 'Draw the two, one update',
        question:
          'Two episodes of one question. A calls its tool twice and answers right: three turns, score 1. B guesses at once, wrong: one turn, score 0. The advantage is score − mean. What does a token of A’s first turn get, by the rule and through the last row’s mask?',
        choices: {
          lost: '+0.5 by the rule, 0 through the last mask',
          both: '+0.5 both times',
          share: 'a third of 0.5 by the rule, 0 through the last mask',
        },
        seen: 'A token of A’s first turn got {right:signed}. Through the last row’s mask it would get {bug:number}, and {lost:count} of A’s {trained:count} trained tokens would learn nothing.',
        why: 'The last row’s mask covers the last turn only. Runs still improve, from their last turns, so the bug is easy to miss. A’s first token is selected in the lab.',
        cannot: 'This machine drew other episodes than the two of the question.',
      },
      members: {
        task: 'Draw them, and count turns',
        question: 'The same two episodes. What is the mean of their group if each turn counts as a member?',
        choices: { lower: '0.25', same: '0.5, as with episodes', higher: '0.75' },
        seen: 'With episodes as members the mean is {mean:number}, with turns {biased:number}. The advantage of A, which used its tool, falls from {right:signed} to {bug:signed}.',
        why: 'A long episode counts once for each turn, so it’s compared mostly with itself. Calling the tool pays less than it should.',
        cannot: 'This machine drew other episodes than the two of the question.',
      },
    },
  },
  critic: {
    title: 'The critic and GAE',
    text: [
      'PPO has no group to compare with. At every token a critic predicts the reward still to come. The advantage says how much better than predicted it went, summed over later tokens with decay λ.',
      'In the formula, A′ and V′ belong to the next token inside the advantage mask. An observation in between costs no decay: credit goes from agent token to agent token. Advantages are then whitened and masked again.',
    ],
    formulas: CHAPTER_FORMULAS.critic,
    exercises: {
      within: {
        task: 'One update of PPO',
        question: 'Under GRPO all actions of a rollout carry one advantage. And with a critic?',
        choices: { same: 'one number here, too', differ: 'they differ from token to token' },
        seen: 'Of {rollouts:count} rollouts with more than one turn, {differing:count} have advantages that differ within the rollout.',
        why: 'Each token is compared with what the critic expected there: a call that helped can be told from one that did not.',
        cannot: 'No rollout of this batch has more than one turn.',
      },
      explains: {
        task: 'Train PPO for 20 updates',
        question: 'After 20 updates, does the critic predict more of the reward than at first, or less?',
        choices: { more: 'more of it', less: 'less of it' },
        seen: 'Explained variance went from {before:number} to {after:number}; 1 would be all of it.',
        why: 'Its value head starts without knowledge and learns along with the policy. Until it knows more, advantages are mostly luck.',
        cannot: 'Explained variance went from {before:number} to {after:number}: too close to tell.',
      },
    },
  },
  clip: {
    title: 'The clip',
    text: [
      'A batch is used for several optimizer steps. After the first, the policy is no longer the one that drew the tokens; the ratio ρ says by which factor it has made a token likelier. Once ρ has left 1 ± ε, PPO’s gradient is exactly 0.',
      'Before the first step ρ = 1, and nothing is clipped. A third bound c caps the loss where A < 0.',
      'GSPO clips one ratio for the rollout. With CISPO a capped token still learns. DPPO-TV stops a token once its probability has moved by more than ε.',
    ],
    formulas: CHAPTER_FORMULAS.clip,
    exercises: {
      tight: {
        task: 'One update at ±0.2, one at ±0.02',
        question: 'The same batch with ε = 0.2 and with ε = 0.02. How many tokens does the tight clip stop?',
        choices: { more: 'more', same: 'as many', fewer: 'fewer' },
        seen: 'At ±0.2 the clip stopped {wide:percent} of the tokens, at ±0.02 {tight:percent}.',
        why: 'Ratios leave the narrow range after a step or two. A notched corner in the lab marks a token clipped at the last step.',
        cannot: 'Neither range stopped a token: the policy hardly moved.',
      },
      moved: {
        task: 'One update with the clip, one with DPPO-TV',
        question:
          'The same batch with the clip and with DPPO-TV, both with ε = 0.2. How many tokens does DPPO-TV stop?',
        choices: { more: 'more', same: 'as many', fewer: 'fewer' },
        seen: 'The clip stopped {wide:percent} of the tokens, DPPO-TV {tight:percent}.',
        why: 'A token that goes from 0.01 to 0.02 has ratio 2, and its probability moved by 0.01. The clip stops such rare tokens first; DPPO-TV lets them learn.',
        cannot: 'Neither of them stopped a token: the policy hardly moved.',
      },
    },
  },
  kl: {
    title: 'KL to the reference',
    text: [
      'The reference is the policy the run began with. A KL penalty pulls the policy back to it: in the loss with weight β, or taken off the reward of each action token.',
      'From one drawn token the KL can only be estimated. k1 can be negative and has the wrong gradient in a loss. k3 is never negative; it is the default.',
      'After a step the policy is no longer the one that drew the tokens. KL × ratio (TRL’s default) multiplies the KL of a token by ρ, and the gradient goes through both. On average that is the gradient of the KL itself.',
    ],
    formulas: CHAPTER_FORMULAS.kl,
    exercises: {
      held: {
        task: 'Ten updates without, ten with β = 0.5',
        question:
          'Two runs from the same start on the same seed, one with β = 0.5. Where is that run after ten updates?',
        choices: { nearer: 'nearer to the reference', further: 'further from it' },
        seen: 'KL to the reference was {free:number} nats without the penalty, {held:number} with it (mean of the last three updates).',
        why: 'The penalty keeps the policy near the start and slows learning. “Without” is β = 10⁻⁶ here, because at 0 it is not measured. Colours in the lab show δ.',
        cannot: 'KL to the reference was {free:number} and {held:number} nats: too close to tell on one seed.',
      },
    },
  },
  trap: {
    title: 'The Echo Trap: all rollouts alike',
    text: [
      'With few prompts, many epochs and no entropy bonus, the policy settles on one path, whatever it reads. All rollouts and scores become equal, so advantages are 0 and it can’t learn its way out.',
      'In RAGEN’s Echo Trap reward rises, then collapses. Here success stays low, and in two of eight runs it then fell by half: rollouts grew alike too early and ignored what they read. The lab’s monitor says TRAP if rollouts look alike and success has lost half its gain, or if turns hardly depend on observations.',
    ],
    formulas: ['reward spread ≤ ½ · its best, flat groups ≥ 0.7, entropy ≤ ½ · its first'],
    exercises: {
      spread: {
        task: 'Break it: 40 updates',
        question:
          'At first some rollouts win and others don’t, so the scores of one prompt are spread out. How wide is that spread after 40 updates?',
        choices: { stays: 'over half of its maximum', falls: 'half of it or less' },
        seen: 'The spread was widest at update {at:count}, {best:number}, and ended at {after:number}. In {flat:percent} of the groups all rollouts scored the same at the end.',
        why: 'When scores no longer differ there is nothing to compare, so the policy stops changing, good or bad. Other seeds end differently: see the eight recorded ones under Experiments.',
        cannot: 'No rollout ever won on this seed, so nothing could collapse.',
      },
      solved: {
        task: 'Look at the recorded runs',
        question:
          'The number hunt of the first page learns to solve its tasks. In how many of its eight recorded runs, each with its own seed, does the spread also end at half of its maximum or less?',
        choices: { few: 'in two or fewer', some: 'in three to five', most: 'in six or more' },
        seen: 'In {fell:count} of {runs:count} runs the spread ended at half of its widest or less, while {success:percent} of the rollouts solved their task.',
        why: 'If all rollouts win, they score alike, too. A narrow spread alone is no trap: that is why the monitor also checks success, and whether turns depend on observations.',
        cannot: 'None of the recorded runs measured a spread.',
      },
    },
  },
  process: {
    title: 'Process reward',
    text: [
      'An outcome reward is paid once, at the last action token of a solved task. A process reward is paid at the call that helped.',
      'Number hunt pays the share of the search space that a call rules out. A run may learn to please this instead of solving the task.',
      'IGPO pays a turn what it adds to log p(right answer).',
    ],
    formulas: ['r = w_outcome·solved + w_process·progress − penalties', 'IGPO: r_i = w·(log p_{i+1} − log p_i)'],
    exercises: {
      flat: {
        task: 'One update with, one without',
        question:
          'The same rollouts, paid for progress too and for the outcome alone. In how many groups do all score the same without it?',
        choices: { more: 'in more', fewer: 'in fewer' },
        seen: 'With process reward {paid:percent} of the groups scored alike and taught nothing, without it {unpaid:percent}.',
        why: 'By outcome, eight failures look alike, although one asked better questions.',
        cannot: 'In both {paid:percent} of the groups scored alike: too few groups to tell.',
      },
      information: {
        task: 'One update paid by information gain',
        question: 'IGPO pays a turn for making the right answer likelier. Are rollouts that fail paid?',
        choices: { some: 'yes', none: 'no' },
        seen: 'Of {failed:count} failed rollouts, {paid:count} had a turn that was paid.',
        why: 'A good question helps even if the answer is wrong. In the experiment, paying progress solved more.',
        cannot: 'No rollout failed, or no turn could be paid.',
      },
    },
  },
  text: {
    title: 'Agents that write text',
    text: [
      'The small agents here have one word for each thing they can say. A language model writes the same call as JSON, in word pieces: more tokens per decision, and more that can go wrong.',
      'Nothing else changes. A chat template says where turns begin and end; the tool’s answer is inserted as tokens the policy didn’t draw. Roles, masks, advantages and the clip are the same. Training uses the drawn token ids. They are never decoded and tokenized again, or the masks would shift.',
    ],
    formulas: ['<tool_call>{"name": "calculate", "arguments": {…}}</tool_call>'],
    exercises: {
      longer: {
        task: 'One update in words, one in text',
        question:
          'The agent plays the calculator once in its own words and once in text. How many times as many tokens does a rollout have in text?',
        choices: { two: 'under twice as many', five: 'two to five times', over: 'over five times' },
        seen: 'After its prompt a rollout had {words:number} tokens in words and {text:number} in text: {times:number} times as many.',
        why: 'All tokens of a rollout share its advantage. Most of them are brackets, quotes and names, and each can be drawn wrongly.',
        cannot: 'One of the two runs left no rollout to measure.',
      },
    },
  },
  kernels: {
    title: 'The kernels',
    text: [
      'No tensor library is used. Forward and backward pass, sampler, credit, loss and AdamW are WGSL kernels; each file begins with its maths, its shapes and what runs in parallel. Buffers, bind groups and pipelines are made once, before the first update.',
      'The CPU backend computes the same in TypeScript and WebAssembly. The kernels are tested against it.',
    ],
    formulas: ['awaited read-backs of an update = chunks of decoding + 1 (numbers) + 1 (weights kept)'],
    exercises: {
      stages: {
        task: 'Take three updates',
        question:
          'An update draws 128 rollouts, then learns from them in two epochs. Which takes longer on this machine?',
        choices: { rollout: 'drawing them', learn: 'learning from them' },
        seen: 'Drawing took {rollout:number} s an update, learning {learn:number} s.',
        why: 'Drawing goes token by token and waits for the tool; learning takes whole rows at once, forwards and backwards. For large models on large GPUs, drawing is usually the slow part. Profile, above, times each kernel.',
        cannot: 'Drawing took {rollout:number} s an update, learning {learn:number} s: too close to tell.',
      },
    },
  },
};
