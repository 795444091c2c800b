import type { EnvView } from '../domain/envView.ts';
import { Purpose, random, type Random } from '../base/rng.ts';
import type { EnvSettings } from './env.ts';
import { type Task, toolRunner } from './episodeRules.ts';
import { follow, type Graph, search } from './graph.ts';

// When a demonstrator errs, it picks a choice suggested by the text read so far with this probability.
const PLAUSIBLE_SHARE = 0.8;

export interface GraphTaskSettings {
  readonly title: string; // of the environment, for people
  readonly questionWord: 'Who' | 'What';
  readonly words: Pick<Graph, 'entities' | 'relations'>; // all words that the agent can use; a graph may have fewer
  readonly distractors: number; // unrelated facts in each observation
}

/** A call has progress 1 if it returns the next hop needed. Without such a fact it returns `none`. Answers outside the graph are wrong. */
export function graphTask(
  graph: Graph,
  { title, questionWord, words, distractors }: GraphTaskSettings,
  maxTurns: number,
): Task {
  const { entities, relations, edges, gold, names = new Map<string, string>() } = graph;
  const searched: (EnvView & { kind: 'graph' })['searched'][number][] = [];
  const start = gold[0]?.entity ?? 0;
  const goal = gold.at(-1)?.to ?? 0;
  const askedRelations = gold.map(({ relation }) => relations[relation] ?? '');
  let hopsFound = 0; // hops retrieved
  let givenAnswer: number | null = null;
  const name = (entity: number) => entities[entity] ?? '';
  const nameOf = (word: string) => names.get(word) ?? word;
  const retrieved = () => searched.flatMap(({ to }) => (to === null ? [] : [to]));
  // until all hops are known, the best answer is the last entity that was read
  const bestAnswer = () => name(hopsFound >= gold.length ? goal : (retrieved().at(-1) ?? start));

  /** Returns `right` with probability `quality`, otherwise mostly a word of `plausible` and sometimes any legal one. */
  const choose = (
    right: string,
    plausible: readonly string[],
    legal: readonly string[],
    quality: number,
    draw: Random,
  ) => (draw.next() < quality ? right : draw.pick(draw.next() < PLAUSIBLE_SHARE ? plausible : legal));

  const demonstrate = (quality: number, draw: Random, turn: number): readonly string[] => {
    const next = gold[hopsFound];
    const entitiesRead = [start, ...searched.flatMap(({ entity, to }) => (to === null ? [entity] : [entity, to]))].map(
      name,
    );
    const right = next ? '<call>' : '<answer>';
    // the typical mistake is to answer after half the search; in other places a wrong choice is any choice
    const wrong = next && hopsFound > 0 ? ['<answer>'] : ['<call>', '<answer>'];
    const kind = turn >= maxTurns ? '<answer>' : choose(right, wrong, wrong, quality, draw);
    if (kind === '<answer>') {
      return ['<answer>', choose(bestAnswer(), entitiesRead, entities, quality, draw), '</answer>'];
    }
    const hop = next ?? gold.at(-1);
    const entity = choose(name(hop?.entity ?? start), entitiesRead, entities, quality, draw);
    const relation = choose(relations[hop?.relation ?? 0] ?? '', askedRelations, relations, quality, draw);
    return ['<call>', entity, relation, '</call>'];
  };

  return {
    prompt: ['<bos>', 'question', ...askedRelations.toReversed(), name(start), '?'],
    key: graph.key,
    question: `${questionWord} is ${askedRelations
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
      const next = gold[hopsFound];
      const useful = ok && entity === next?.entity && relation === next.relation;
      if (useful) hopsFound++;
      return { observation: content, progress: useful ? 1 : 0, stop: null, success: false };
    },
    answer(args) {
      const [word = ''] = args;
      if (args.length !== 1 || !words.entities.includes(word)) return null;
      const entity = entities.indexOf(word);
      givenAnswer = entity < 0 ? null : entity;
      return { observation: [], progress: 0, stop: 'answered', success: entity === goal };
    },
    neededWords(turn) {
      const next = gold[hopsFound];
      if (!next) return [name(goal)];
      return turn < maxTurns ? [name(next.entity), relations[next.relation] ?? ''] : [];
    },
    expert(turn) {
      const next = gold[hopsFound];
      return next && turn < maxTurns
        ? ['<call>', name(next.entity), relations[next.relation] ?? '', '</call>']
        : ['<answer>', bestAnswer(), '</answer>'];
    },
    rightAnswer: () => ['<answer>', name(goal), '</answer>'],
    rule: (turn) =>
      searched.length === 0 && turn < maxTurns
        ? ['<call>', name(start), askedRelations[0] ?? '', '</call>']
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
  };
}

/** The environment looks up the first fact that the task needs, with the same tool, which may fail. */
export function withFirstFact(task: Task, environmentSeed: number, { failureRate }: EnvSettings): Task {
  const args = task.neededWords(0);
  const found = task.call(args, 0, toolRunner(failureRate, random(environmentSeed, Purpose.environment, 0, 1)));
  return {
    ...task,
    prompt: [...task.prompt, '<call>', ...args, '</call>', '<obs>', ...(found?.observation ?? []), '</obs>'],
  };
}

/**
 * Returns the task with `count` facts in its prompt, as a lexical retriever over the facts would choose them: those
 * that share most words with the question. Entity and relation count the same, and ties are broken at random. The
 * second hop of a question shares at most one word, so it is seldom chosen.
 *
 * Expert and rule follow the question as far as these facts lead.
 */
export function withSimilarFacts(
  task: Task,
  { entities, relations, edges, gold }: Graph,
  count: number,
  draw: Random,
): Task {
  const start = gold[0]?.entity;
  const askedRelations = new Set(gold.map(({ relation }) => relation));
  const facts = edges.flatMap((row, relation) =>
    row.flatMap((to, entity) => (to === null ? [] : [{ entity, relation, to }])),
  );
  const sharedWords = ({ entity, relation }: (typeof facts)[number]) =>
    Number(entity === start) + Number(askedRelations.has(relation));
  const chosenFacts = draw
    .shuffle(facts)
    .sort((a, b) => sharedWords(b) - sharedWords(a))
    .slice(0, count);
  const words = chosenFacts.flatMap(({ entity, relation, to }) => [
    entities[entity] ?? '',
    relations[relation] ?? '',
    entities[to] ?? '',
  ]);
  const answerWith = (word: string): readonly string[] => ['<answer>', word, '</answer>'];
  // the entity that the facts lead to along the question
  const firstMissingHop = gold.findIndex(
    (hop) => !chosenFacts.some(({ entity, relation }) => entity === hop.entity && relation === hop.relation),
  );
  const reachedEntity = firstMissingHop === 0 ? start : gold.at(firstMissingHop < 0 ? -1 : firstMissingHop - 1)?.to;
  const answerReached = () => answerWith(entities[reachedEntity ?? 0] ?? '');
  const plausibleWords = chosenFacts.flatMap(({ entity, to }) => [entities[entity] ?? '', entities[to] ?? '']);
  return {
    ...task,
    prompt: [...task.prompt, '<obs>', ...words, '</obs>'],
    expert: answerReached,
    rule: answerReached,
    demonstrate: (quality, draws) =>
      draws.next() < quality ? answerReached() : answerWith(draws.pick(plausibleWords)),
  };
}
