import type { RunConfig } from '../config/fields.ts';
import { YOUR_ENVIRONMENT } from '../config/environments.ts';
import { canGrow, LARGER_SIZES } from '../config/imitationRecipe.ts';
import type { MetricName } from '../domain/metrics.ts';
import type { Series } from './series.ts';

/** Share of the expert's success from which a task counts as learned. */
const LEARNED = 0.9;
/** A smaller difference between two evaluations may be chance. */
const CLEAR_GAIN = 0.1;
/** Share of malformed turns above which the form of a call isn't learned. */
const MALFORMED = 0.2;
/** So many different numbers in the texts that the right call may depend on arithmetic. */
const MANY_NUMBERS = 6;

/** What to try next, in a sentence or two. Empty if the run was not evaluated before and after RL. */
export function nextStep(series: ReadonlyMap<MetricName, Series>, config: RunConfig): string {
  const first = (name: MetricName) => series.get(name)?.firstValue;
  const last = (name: MetricName) => series.get(name)?.lastValue;
  const [before, greedy, sampled] = [first('eval/success'), last('eval/success'), last('eval/success_sampled')];
  if (before === undefined || greedy === undefined || sampled === undefined || config.updates < 2) return '';
  const expert = first('baseline/expert'); // undefined: the environment has none, or is a server
  const goal = LEARNED * (expert !== undefined && expert > 0 ? expert : 1);
  const isOwn = config.env === YOUR_ENVIRONMENT;
  const isServer = first('baseline/random') === undefined && expert === undefined;
  const ofExpert = expert === undefined ? '' : `, the expert ${percent(expert)}`;
  const solved = `It solves ${percent(greedy)} greedy and ${percent(sampled)} sampled${ofExpert}.`;
  if (greedy >= goal && sampled >= goal) return `${solved} Make the task harder, or train another seed.`;
  if (isOwn && !expert && !isServer)
    return `${solved} Give the class an expert() that solves its tasks: the agent could only imitate other calls.`;
  if (isOwn && expert !== undefined && expert < 1 - CLEAR_GAIN && greedy >= goal - CLEAR_GAIN)
    return `${solved} The agent imitates the expert, so improve expert() first.`;
  const [sampledBefore = sampled, malformed = 0] = [first('eval/success_sampled'), last('eval/malformed_sampled')];
  if (greedy < before - CLEAR_GAIN)
    return `${solved} Greedy it solved ${percent(before)} before RL. Halve the learning rate.`;
  const isRising = sampled > sampledBefore + CLEAR_GAIN || greedy > before + CLEAR_GAIN;
  if (greedy >= goal || isRising) return `${solved} RL still raises this: train ${2 * config.updates} updates.`;
  if (!isOwn) return `${solved} RL changed little. Train another seed, or compare other settings with this run.`;
  const steps = config.imitationSteps > 0 ? `, or imitate longer: imitationSteps=${2 * config.imitationSteps}` : '';
  if (malformed > MALFORMED)
    return `${solved} ${percent(malformed)} of its turns are malformed. Allow fewer words in arguments${steps}.`;
  if ((first('baseline/numbers') ?? 0) >= MANY_NUMBERS)
    return `${solved} Its texts have many different numbers. If the right call depends on arithmetic, give the agent a tool that calculates, such as one that adds, or train it beside SmolLM2.`;
  const { width, layers } = LARGER_SIZES;
  if (canGrow(config)) return `${solved} Try a larger model: width=${width} and layers=${layers}${steps}.`;
  return `${solved} Let the tools’ answers say more, so that each call needs less thought${steps}.`;
}

const percent = (share: number) => `${Math.round(100 * share)} %`;
