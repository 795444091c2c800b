import type { EnvView } from '../protocol.ts';
import { Purpose, random, type Random } from '../rng.ts';
import type { EnvSettings, ToolEnv } from './env.ts';
import { type Task, toolRunner } from './episode.ts';
import { drawGraph, follow, type Graph, graphNames, search } from './graph.ts';
import { turnRules } from './turnRules.ts';
import { vocabulary } from './vocab.ts';

/** Knobs that fix the shape of the environment. */
export interface MultiHopOptions {
  readonly entities: number;
  readonly relations: number;
  readonly hops: number;
  readonly distractors: number; // unrelated facts in each observation
  readonly maxTurns: number; // the last one can only answer
  readonly think: boolean;
}

// A demonstrator who is wrong mostly picks something the text at hand suggests.
const PLAUSIBLE = 0.8;

/**
 * Multi-hop search: "who is r2 of r1 of e?" over a random graph drawn per task, a tool that looks up one fact, then an
 * answer. Process reward: 1 share for the call that retrieves the next hop the question needs. Demonstrations mix in
 * questions one hop shorter and longer (.2 / .6 / .2 at two hops), so that the imitated policy has seen them. Out of
 * domain is one hop more than trained on, where the turns allow it. Naive RAG looks up the first hop.
 */
export function multiHop(options: MultiHopOptions): ToolEnv {
  const { hops, distractors, maxTurns, think } = options;
  const names = graphNames(options.entities, options.relations);
  const words = vocabulary(['question', '?', ...names.relations, ...names.entities]);
  const { grammar, maxTurnTokens, begin } = turnRules({
    vocabulary: words,
    think,
    maxTurns,
    call: { places: [names.entities, names.relations] },
    answer: { places: [names.entities] },
  });
  const asking = (chooseHops: (draw: Random, settings: EnvSettings) => number) =>
    begin((draw, _, settings) => quest(drawGraph(names, chooseHops(draw, settings), draw), distractors, maxTurns));
  const trainedHops = (draw: Random, { oneHopShare }: EnvSettings) => (draw.next() < oneHopShare ? 1 : hops);
  // each hop takes a turn, and so does the answer
  const shiftedHops = Math.min(hops + 1, Math.max(hops, maxTurns - 1));
  return {
    name: 'multi-hop',
    description: 'Answer a question about people by looking up one fact at a time.',
    vocabulary: words.words,
    tools: [search],
    // a prompt may be one hop longer: demonstrations, and tasks out of the domain
    maxTokens: 4 + (hops + 1) + maxTurns * maxTurnTokens + (maxTurns - 1) * (2 + 3 * (1 + distractors)),
    maxTurnTokens,
    grammar,
    reset: asking(trainedHops),
    demonstration: asking((draw) => {
      const u = draw.next();
      return u < 0.2 ? 1 : u < 0.8 ? hops : hops + 1;
    }),
    splits: {
      shifted: {
        reset: asking(() => shiftedHops),
        doc:
          shiftedHops > hops
            ? `Every question takes ${shiftedHops} hops, one more than in training.`
            : `Every question takes ${hops} hops: ${maxTurns} turns leave no room for more.`,
      },
    },
    retrieved: begin((draw, seed, settings) => {
      const graph = drawGraph(names, trainedHops(draw, settings), draw);
      return retrieveFirst(quest(graph, distractors, 1), seed, settings);
    }, 1),
  };
}

/** The task with the first thing it needs looked up by its environment, by the same tool that may fail, and put into the prompt. */
function retrieveFirst(task: Task, seed: number, { failureRate }: EnvSettings): Task {
  const args = task.needs(0);
  const found = task.call(args, 0, toolRunner(failureRate, random(seed, Purpose.environment, 0, 1)));
  return {
    ...task,
    prompt: [...task.prompt, '<call>', ...args, '</call>', '<obs>', ...(found?.observation ?? []), '</obs>'],
  };
}

/** One question and what has been found out about it. */
function quest(graph: Graph, distractors: number, maxTurns: number): Task {
  const { entities, relations, edges, gold } = graph;
  const searched: (EnvView & { kind: 'graph' })['searched'][number][] = [];
  const start = gold[0]?.entity ?? 0;
  const goal = gold.at(-1)?.to ?? 0;
  const asked = gold.map(({ relation }) => relations[relation] ?? '');
  let known = 0; // hops retrieved
  let given: number | null = null;
  const name = (entity: number) => entities[entity] ?? '';
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
    question: `Who is ${asked
      .toReversed()
      .map((relation) => `the ${relation} of`)
      .join(' ')} ${name(start)}?`,
    call(args, turn, tools) {
      const entity = entities.indexOf(args[0] ?? '');
      const relation = relations.indexOf(args[1] ?? '');
      if (args.length !== 2 || entity < 0 || relation < 0) return null;
      const { ok, content } = tools(search, args, { graph, distractors });
      const to = ok ? follow(edges, entity, relation) : null;
      searched.push({ turn, entity, relation, to });
      const next = gold[known];
      const useful = ok && entity === next?.entity && relation === next.relation;
      if (useful) known++;
      return { observation: content, progress: useful ? 1 : 0, stop: null, success: false };
    },
    answer(args) {
      const entity = entities.indexOf(args[0] ?? '');
      if (args.length !== 1 || entity < 0) return null;
      given = entity;
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
    demonstrate,
    view: () => ({
      kind: 'graph',
      entities,
      relations,
      edges,
      gold,
      searched: [...searched],
      answer: goal,
      given,
    }),
  };
}
