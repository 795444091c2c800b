import type { PresetName } from './presets.ts';

/** What each preset shows, in a sentence or two; apart from the presets, which the page needs before anybody reads this. */
export const PRESET_DOCS: Readonly<Record<PresetName, string>> = {
  'number-hunt': 'Find a hidden number with a compare tool, in four calls. The quickest thing to watch.',
  'multi-hop': 'Answer “r2 of r1 of e” over a random graph by searching twice. A critic gives each token its credit.',
  'world-facts':
    'Multi-hop questions about real countries, over names drawn anew for each task. Evaluated on questions, countries and lengths it never trained on.',
  'your-facts': 'The same over a CSV file of subject, relation, object that you bring. It stays on this machine.',
  'frozen-lake':
    'From random weights: walk over a random lake to the goal; one move in five slips to the side, which leaves the best walker at .86.',
  sokoban:
    'From random weights: push one box onto its target, in a room of six by six with its walls; each move costs a hundredth.',
  bandit:
    'A safe arm that pays .1 or a risky one worth .25, from random weights. Switch “Divide by std” on and it settles for the safe one: three groups in four see the risky one pay nothing, and dividing makes their small loss as loud as the rare win.',
  'bandit-reversed': 'The same names with what they pay turned round: the risky arm is the one that sounds safe.',
  calculator:
    'Work out two operations on numbers of two digits, one call of the calculator each. The warm start can, but mostly answers with the first result.',
  countdown: 'Make a target out of two numbers in one turn; the right numbers with the wrong result earn a tenth.',
  'document-search':
    'Answer questions over real sentences with a BM25 index: find one passage or two, and copy the answer.',
  'number-hunt-text':
    'The hunt as a language model plays it: a chat, the tool as JSON, 1,024 tokens of bytes. It begins from the small text model that ships with the page, which heeds the last answer as seldom as its demonstrator did. Each guess is paid by what it rules out.',
  'calculator-text':
    'The calculator chain in a chat: the same text model, which calls the tool in JSON but often answers too early or copies the wrong number.',
  'search-text': 'Multi-hop search in a chat: the same text model looks facts up in JSON and answers with a name.',
  'smollm2-calculator':
    'The calculator chain with a language model that you open, such as SmolLM2-135M-Instruct: adapters (LoRA) learn beside its weights, first from demonstrations, then by reward.',
  'smollm2-hunt': 'The number hunt with a language model that you open, and adapters.',
  'smollm2-search': 'Looking one fact up and answering, with a language model that you open, and adapters.',
  'number-hunt-ppo': 'The same hunt with a value head on the policy’s trunk and token-level credit.',
  'multi-hop-grpo': 'The same search without a critic: one score for a whole rollout, compared within its group.',
  'break-it':
    'Few prompts, stale updates, no entropy bonus: success rises, until every rollout takes the same path whatever the map says; then there is nothing left to compare, and nothing is learned any more.',
  'break-it-ppo':
    'RAGEN’s plain StarPO, which is PPO: the same stress with a critic of its own in the place of the group’s mean.',
  'starpo-s':
    'RAGEN’s StarPO-S, which is PPO with a critic: as many equal steps, but four times the prompts are rolled out and only the quarter learned from whose rollouts differ most, with the upper clip at 0.28 and no KL.',
  'grpo-s':
    'The filter and the clip of StarPO-S on GRPO: the preset break-it with four times the prompts, of which the quarter is learned from whose rollouts differ most.',
  rlhf: 'The environment pays nothing: a reward model fitted to a labeller who likes effort does. A KL to the weights the run began with holds the policy near rollouts the model has been taught about.',
  'rlhf-hack':
    'The same without the KL: the model’s score goes up, the agent searches as often as it can, and solves less than at its start.',
  'noisy-hunt':
    'The tool wraps its word in six random ones, so that it shows what grading the tool’s text costs: switch both masks off.',
};
