import type { EnvView } from '../domain/envView.ts';
import { Purpose, random, type Random } from '../base/rng.ts';
import type { EnvSettings } from './env.ts';
import { type Task, toolRunner } from './episodeRules.ts';
import { follow, type Graph, search } from './graph.ts';

// A demonstrator who is wrong mostly picks something the text at hand suggests.
const PLAUSIBLE = 0.8;

/** What a question is put to. */
export interface Quest {
  readonly title: string; // of the environment, for people
  readonly asks: 'Who' | 'What';
  readonly words: Pick<Graph, 'entities' | 'relations'>; // all the agent can name; a graph may hold fewer
  readonly distractors: number; // unrelated facts in each observation
}

/**
 * One question over a graph and what has been found out about it. Process reward: 1 share for the call that retrieves the next
 * hop the question needs. What the graph does not hold is `none` to the tool, and a wrong answer.
 */
export function quest(graph: Graph, { title, asks, words, distractors }: Quest, maxTurns: number): Task {
  const { entities, relations, edges, gold, names = new Map<string, string>() } = graph;
  const searched: (EnvView & { kind: 'graph' })['searched'][number][] = [];
  const start = gold[0]?.entity ?? 0;
  const goal = gold.at(-1)?.to ?? 0;
  const asked = gold.map(({ relation }) => relations[relation] ?? '');
  let known = 0; // hops retrieved
  let givenAnswer: number | null = null;
  const name = (entity: number) => entities[entity] ?? '';
  const nameOf = (word: string) => names.get(word) ?? word;
  const retrieved = () => searched.flatMap(({ to }) => (to === null ? [] : [to]));
  // Until all is known, the honest answer is what was read last.
  const bestAnswer = () => name(known >= gold.length ? goal : (retrieved().at(-1) ?? start));

  /** The right word with probability `quality`, else one at hand, now and then any legal one. */
  const choose = (right: string, atHand: readonly string[], legal: readonly string[], quality: number, draw: Random) =>
    draw.next() < quality ? right : draw.pick(draw.next() < PLAUSIBLE ? atHand : legal);

  const demonstrate = (quality: number, draw: Random, turn: number): readonly string[] => {
    const next = gold[known];
    const seen = [start, ...searched.flatMap(({ entity, to }) => (to === null ? [entity] : [entity, to]))].map(name);
    const right = next ? '<call>' : '<answer>';
    // The typical slip is to answer after half the search; elsewhere a wrong choice is any choice.
    const wrong = next && known > 0 ? ['<answer>'] : ['<call>', '<answer>'];
    const kind = turn >= maxTurns ? '<answer>' : choose(right, wrong, wrong, quality, draw);
    if (kind === '<answer>') {
      return ['<answer>', choose(bestAnswer(), seen, entities, quality, draw), '</answer>'];
    }
    const hop = next ?? gold.at(-1);
    const entity = choose(name(hop?.entity ?? start), seen, entities, quality, draw);
    const relation = choose(relations[hop?.relation ?? 0] ?? '', asked, relations, quality, draw);
    return ['<call>', entity, relation, '</call>'];
  };

  return {
    prompt: ['<bos>', 'question', ...asked.toReversed(), name(start), '?'],
    key: graph.key,
    question: `${asks} is ${asked
      .toReversed()
      .map((relation) => `the ${nameOf(relation)} of`)
      .join(' ')} ${nameOf(name(start))}?`,
    names,
    call(args, turn, tools) {
      const [entityWord = '', relationWord = ''] = args;
      if (args.length !== 2 || !words.entities.includes(entityWord) || !words.relations.includes(relationWord)) {
        return null;
      }
      const entity = entities.indexOf(entityWord);
      const relation = relations.indexOf(relationWord);
      const { ok, content } = tools(search, args, { graph, distractors });
      const to = ok ? follow(graph, entity, relation) : null;
      if (entity >= 0 && relation >= 0) searched.push({ turn, entity, relation, to });
      const next = gold[known];
      const useful = ok && entity === next?.entity && relation === next.relation;
      if (useful) known++;
      return { observation: content, progress: useful ? 1 : 0, stop: null, success: false };
    },
    answer(args) {
      const [word = ''] = args;
      if (args.length !== 1 || !words.entities.includes(word)) return null;
      const entity = entities.indexOf(word);
      givenAnswer = entity < 0 ? null : entity;
      return { observation: [], progress: 0, stop: 'answered', success: entity === goal };
    },
    needs(turn) {
      const next = gold[known];
      if (!next) return [name(goal)];
      return turn < maxTurns ? [name(next.entity), relations[next.relation] ?? ''] : [];
    },
    expert(turn) {
      const next = gold[known];
      return next && turn < maxTurns
        ? ['<call>', name(next.entity), relations[next.relation] ?? '', '</call>']
        : ['<answer>', bestAnswer(), '</answer>'];
    },
    rule: (turn) =>
      searched.length === 0 && turn < maxTurns
        ? ['<call>', name(start), asked[0] ?? '', '</call>']
        : ['<answer>', name(retrieved().at(-1) ?? start), '</answer>'],
    demonstrate,
    view: () => ({
      kind: 'graph',
      title,
      entities: entities.map(nameOf),
      relations: relations.map(nameOf),
      edges,
      gold,
      searched: [...searched],
      answer: goal,
      given: givenAnswer,
    }),
    data: () => ({ kind: 'graph', entities, relations, edges, gold, known }),
  };
}

/** The task with the first thing it needs looked up by its environment, by the same tool that may fail, and put into the prompt. */
export function retrieveFirst(task: Task, environmentSeed: number, { failureRate }: EnvSettings): Task {
  const args = task.needs(0);
  const found = task.call(args, 0, toolRunner(failureRate, random(environmentSeed, Purpose.environment, 0, 1)));
  return {
    ...task,
    prompt: [...task.prompt, '<call>', ...args, '</call>', '<obs>', ...(found?.observation ?? []), '</obs>'],
  };
}

/**
 * The task with `count` facts in its prompt: those that share most words with the question, entity and relation alike, ties by
 * lot, as a lexical retriever over the facts would bring them. The second hop of a question shares one word at most, so it seldom comes.
 * Who plays it well follows the question as far as those facts lead.
 */
export function retrieveLike(
  task: Task,
  { entities, relations, edges, gold }: Graph,
  count: number,
  draw: Random,
): Task {
  const start = gold[0]?.entity;
  const asked = new Set(gold.map(({ relation }) => relation));
  const facts = edges.flatMap((row, relation) =>
    row.flatMap((to, entity) => (to === null ? [] : [{ entity, relation, to }])),
  );
  const alike = ({ entity, relation }: (typeof facts)[number]) =>
    Number(entity === start) + Number(asked.has(relation));
  const best = draw
    .shuffle(facts)
    .sort((a, b) => alike(b) - alike(a))
    .slice(0, count);
  const words = best.flatMap(({ entity, relation, to }) => [
    entities[entity] ?? '',
    relations[relation] ?? '',
    entities[to] ?? '',
  ]);
  const say = (word: string): readonly string[] => ['<answer>', word, '</answer>'];
  // as far along the question as the facts lead
  const last = gold.findIndex(
    (hop) => !best.some(({ entity, relation }) => entity === hop.entity && relation === hop.relation),
  );
  const reached = last === 0 ? start : gold.at(last < 0 ? -1 : last - 1)?.to;
  const read = () => say(entities[reached ?? 0] ?? '');
  const atHand = best.flatMap(({ entity, to }) => [entities[entity] ?? '', entities[to] ?? '']);
  return {
    ...task,
    prompt: [...task.prompt, '<obs>', ...words, '</obs>'],
    expert: read,
    rule: read,
    demonstrate: (quality, hand) => (hand.next() < quality ? read() : say(hand.pick(atHand))),
  };
}
