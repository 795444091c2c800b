import type { RunPreset } from './presets.ts';

/** What each preset shows, in a sentence or two; apart from the presets, which the page needs before anybody reads this. */
export const PRESET_DOCS: Readonly<Record<RunPreset, string>> = {
  'number-hunt': 'Find a hidden number with a compare tool in four calls. The quickest run to watch.',
  'multi-hop': 'Answer “r2 of r1 of e” over a random graph by searching twice. A critic gives each token its credit.',
  'world-facts':
    'Multi-hop questions about real countries. In each task a country gets a new name, so nothing can be learned by heart. Evaluation asks questions, countries and lengths that training never had.',
  'your-facts': 'Multi-hop questions over your own CSV file (subject, relation, object). It stays on this machine.',
  'frozen-lake':
    'Walk over a random lake to the goal, from random weights. One move in five slips to the side, so even the best player solves only 86 %.',
  'your-environment':
    'An environment that somebody wrote: one class that comes as a file and runs in a sandbox, or a server on this machine.',
  sokoban:
    'Push one box onto its target, from random weights. The room is six by six cells with its walls. Each move costs 0.01 of reward.',
  bandit:
    'Choose between a safe arm, which pays 0.1, and a risky arm, which pays 1 in a quarter of the cases, from random weights. Switch “Divide by std” on and the agent settles for the safe arm. The risky arm mostly pays nothing, and dividing by the std makes that small loss count as much as the rare win.',
  'bandit-reversed': 'The same names with swapped payoffs: the risky arm is the one that sounds safe.',
  calculator:
    'Work out two operations on numbers of two digits, with one call of the calculator for each. After the warm start the agent can call it, but mostly answers with the first result.',
  countdown:
    'Make a target out of two numbers in one turn. The right numbers with the wrong result earn a tenth of the reward.',
  'document-search':
    'Answer questions over real sentences with a BM25 index: find one passage or two, and copy the answer.',
  'number-hunt-text':
    'Number hunt for a language model, as a chat with the tool in JSON. The tokenizer has 1,024 tokens, made from bytes. Training starts from the small text model included in the page. That model ignores the last observation as often as the player it imitated. Each guess is rewarded for the numbers it rules out.',
  'calculator-text':
    'The calculator chain in a chat: the same text model, which calls the tool in JSON but often answers too early or copies the wrong number.',
  'search-text': 'Multi-hop search in a chat: the same text model looks facts up in JSON and answers with a name.',
  'smollm2-calculator':
    'The calculator chain with a language model that you open, such as SmolLM2-135M-Instruct: LoRA adapters learn first from demonstrations (warm-up), then from reward.',
  'smollm2-hunt': 'The number hunt with a language model that you open, and adapters.',
  'smollm2-search': 'Looking one fact up and answering, with a language model that you open, and adapters.',
  'number-hunt-ppo': 'Number hunt with PPO: a value head on the policy’s network gives each token its credit.',
  'multi-hop-grpo':
    'Multi-hop search without a critic. Each rollout gets one score, compared with the others of its group.',
  'break-it':
    'Few prompts, many epochs on each batch, no entropy bonus. Success rises until every rollout takes the same path, whatever the map says. Then there is nothing left to compare, and learning stops.',
  'break-it-ppo':
    'The run that breaks (“Break it”), with RAGEN’s StarPO: PPO, whose separate critic replaces the group mean.',
  'starpo-s':
    'The run that breaks (“Break it”), with RAGEN’s StarPO-S: PPO with a critic, the upper clip at 0.28 and no KL. It rolls out four times as many prompts and trains on the quarter whose rollouts differ most, so the optimizer takes as many steps of the same size.',
  'grpo-s':
    'The run that breaks (“Break it”), with GRPO and the filter and clip of StarPO-S. It rolls out four times as many prompts and trains on the quarter whose rollouts differ most.',
  rlhf: 'No reward from the environment, only from a reward model trained on a labeller who likes effort. A KL penalty keeps the policy near the initial weights, so near rollouts the reward model knows.',
  'rlhf-hack':
    'The reward comes only from a learned reward model, and there is no KL penalty. The reward model’s score goes up, the agent searches as often as it can, and it solves fewer tasks than at the start.',
  'noisy-hunt':
    'The tool wraps its word in six random ones. Switch both masks off to see how training on observations hurts.',
};
