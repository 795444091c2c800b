import type { PresetName } from './presets.ts';

/** What each preset shows, in a sentence or two; apart from the presets, which the page needs before anybody reads this. */
export const PRESET_DOCS: Readonly<Record<PresetName, string>> = {
  'number-hunt': 'Find a hidden number with a compare tool in four calls. The quickest run to watch.',
  'multi-hop': 'Answer “r2 of r1 of e” over a random graph by searching twice. A critic gives each token its credit.',
  'world-facts':
    'Multi-hop questions about real countries; their names are redrawn for each task. Evaluated on questions, countries and lengths it never trained on.',
  'your-facts': 'Multi-hop questions over your own CSV file (subject, relation, object). It stays on this machine.',
  'frozen-lake':
    'From random weights: walk over a random lake to the goal; one move in five slips to the side, so the best player solves .86.',
  sokoban:
    'From random weights: push one box onto its target, in a room of six by six with its walls; each move costs a hundredth.',
  bandit:
    'A safe arm that pays .1 or a risky one worth .25, from random weights. Switch “Divide by std” on and it settles for the safe one: in three groups of four the risky arm pays nothing, and dividing by the std makes that small loss count as much as the rare win.',
  'bandit-reversed': 'The same names with swapped payoffs: the risky arm is the one that sounds safe.',
  calculator:
    'Work out two operations on numbers of two digits, one call of the calculator each. The warm start knows how, but mostly answers with the first result.',
  countdown: 'Make a target out of two numbers in one turn; the right numbers with the wrong result earn a tenth.',
  'document-search':
    'Answer questions over real sentences with a BM25 index: find one passage or two, and copy the answer.',
  'number-hunt-text':
    'Number hunt for a language model: a chat, the tool as JSON, 1,024 tokens of bytes. It starts from the small text model included in the page, which ignores the last observation as often as its demonstrator did. Each guess is rewarded for the numbers it rules out.',
  'calculator-text':
    'The calculator chain in a chat: the same text model, which calls the tool in JSON but often answers too early or copies the wrong number.',
  'search-text': 'Multi-hop search in a chat: the same text model looks facts up in JSON and answers with a name.',
  'smollm2-calculator':
    'The calculator chain with a language model that you open, such as SmolLM2-135M-Instruct: LoRA adapters learn first from demonstrations (warm-up), then from reward.',
  'smollm2-hunt': 'The number hunt with a language model that you open, and adapters.',
  'smollm2-search': 'Looking one fact up and answering, with a language model that you open, and adapters.',
  'number-hunt-ppo': 'The same hunt with a value head on the policy’s trunk and token-level credit.',
  'multi-hop-grpo': 'The same search without a critic: one score for a whole rollout, compared within its group.',
  'break-it':
    'Few prompts, stale updates, no entropy bonus. Success rises until every rollout takes the same path, whatever the map says. Then there is nothing left to compare, and learning stops.',
  'break-it-ppo':
    'RAGEN’s plain StarPO, which is PPO: the same stress with a separate critic instead of the group mean.',
  'starpo-s':
    'RAGEN’s StarPO-S, which is PPO with a critic. It rolls out four times the prompts and trains on the quarter whose rollouts differ most, in as many equal steps, with the upper clip at 0.28 and no KL.',
  'grpo-s':
    'The filter and the clip of StarPO-S on GRPO: the preset break-it with four times the prompts. It trains on the quarter whose rollouts differ most.',
  rlhf: 'No reward from the environment, only from a reward model trained on a labeller who likes effort. A KL to the initial weights keeps the policy near rollouts the reward model knows.',
  'rlhf-hack':
    'The same without the KL: the reward model’s score goes up, the agent searches as often as it can, and it solves less than at the start.',
  'noisy-hunt':
    'The tool wraps its word in six random ones. Switch both masks off to see how training on observations hurts.',
};
