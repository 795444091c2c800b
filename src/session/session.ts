import { noProgress } from '../domain/progress.ts';
import { checkpointOf, type Checkpoint } from '../runs/checkpoint.ts';
import { configAfterChanges, type RunConfig } from '../config/config.ts';
import { YOUR_ENVIRONMENT } from '../config/environments.ts';
import { type ChosenKnobs, LARGER_SIZES, type ShorterImitation, shorterImitation } from '../config/imitationRecipe.ts';
import { isDue, type KnobChange, withoutKnobs } from '../config/knobChange.ts';
import { contradictions } from '../config/contradictions.ts';
import { type BaseCheckpoint, BaseNeededError, checkBase } from '../checkpoints/baseCheckpoint.ts';
import { ConfigError } from '../config/configProblem.ts';
import type { Problem } from '../base/problem.ts';
import type { ToolEnv } from '../envs/env.ts';
import type { Facts } from '../facts/facts.ts';
import { openRewardModel } from './openRewardModel.ts';
import { openEnvironment } from './environment.ts';
import type { ChatTokenizerFiles } from '../domain/chatTokenizerFiles.ts';
import { adapterConfig } from '../model/adapterKnobs.ts';
import { AnsweringPolicies } from './answeringPolicies.ts';
import { knobsOf } from './backendKnobs.ts';
import { RunHistory } from './history.ts';
import type { Host } from './host.ts';
import { answer } from './inspection.ts';
import { currentDemonstrations, imitation } from './imitation.ts';
import { StageProgress } from './stageProgress.ts';
import { Readers } from './readers.ts';
import { hasImitated, openNetworks, type OpenedNetworks } from './openNetworks.ts';
import type { Metrics } from '../domain/metrics.ts';
import { tensorsHash } from '../model/architecture.ts';
import { type Policy, BackendError } from '../model/policy.ts';
import type { Attempt } from '../domain/preferences.ts';
import type { ModelCost, TrainingEvent } from '../domain/trainingEvent.ts';
import type { RunEvent } from '../wire/commands.ts';
import type { Answer, Question } from '../wire/questions.ts';
import { evaluate } from '../rl/evaluate.ts';
import type { WeightQueue } from '../rl/staleWeights.ts';
import { train } from '../rl/trainer.ts';

/** The fewest prompts of a batch that the size is lowered to. With fewer, the run should say what to shorten. */
const MIN_PROMPTS = 4;

/**
 * Opens a run with `open`. If a person's environment has episodes that are too long for the memory, tries again with
 * half as many prompts in a batch. Returns the knobs that fit. Throws what `open` throws if nothing fits.
 */
export async function withFittingBatch<T>(
  config: RunConfig,
  open: (config: RunConfig) => Promise<T>,
): Promise<{ readonly config: RunConfig; readonly opened: T }> {
  for (let fitting = config; ;) {
    try {
      return { config: fitting, opened: await open(fitting) };
    } catch (error) {
      const smaller = { ...fitting, prompts: fitting.prompts / 2 };
      const canShrink = smaller.prompts >= MIN_PROMPTS && contradictions(smaller).length === 0;
      if (fitting.env !== YOUR_ENVIRONMENT || !isMemoryError(error) || !canShrink) throw error;
      fitting = smaller;
    }
  }
}

/** Whether a smaller batch may help: a backend's own limit, or an array that can't be allocated. */
function isMemoryError(error: unknown): boolean {
  return error instanceof BackendError ? knobsOf(error).includes('prompts') : error instanceof RangeError;
}

/** A run: environment, backend, weights, and the events of training. Pulling an event makes the training go on. */
export interface Session {
  readonly config: () => RunConfig;
  readonly policy: Policy;
  readonly env: ToolEnv;
  /** The tokenizer of the run's model; null if the model uses words or the tokenizer of `base`. */
  readonly chatTokenizer: ChatTokenizerFiles | null;
  readonly base: BaseCheckpoint | null; // the checkpoint that the run trains adapters for
  readonly events: AsyncGenerator<RunEvent>; // a new generator after `restore`
  /** The current state of the run, to continue from later. Call it between updates. */
  readonly checkpoint: () => Promise<Checkpoint>;
  /** Goes back to a checkpoint of this run. The knobs keep their values. */
  readonly restore: (checkpoint: Checkpoint) => void;
  /** Throws ConfigError, and changes nothing, for restart knobs and impossible values. */
  readonly configure: (changes: Readonly<Record<string, unknown>>) => void;
  /**
   * Plans changes of knobs at later updates. If `configure` changes a knob, its planned changes are dropped. Pulling
   * events throws ConfigError if a planned change has become impossible.
   */
  readonly plan: (changes: readonly KnobChange[]) => void;
  /** Whether imitation, the first stage of training, isn't over. */
  readonly isImitating: () => boolean;
  /**
   * Ends imitation with the step under way, or the next one if the run is paused between two. Returns the knobs that
   * give the same run from its start; null, and changes nothing, if it isn't imitating or there are no such knobs.
   */
  readonly endImitation: () => ShorterImitation | null;
  /** Tells the reward model which of two rollouts a person prefers. Throws ConfigError if there is no reward model. */
  readonly prefer: (better: Attempt, worse: Attempt) => void;
  /** The kept batches and networks. `events` adds the batches; the caller adds the network after each update. */
  readonly history: RunHistory;
  /** About kept rollouts, one at a time. Throws when they are not kept, or a branch's token is not legal. */
  readonly answer: (question: Question) => Promise<Answer>;
  /** Held-out success with the current weights. Overwrites the batch: call it between updates only. */
  readonly evaluate: () => Promise<Metrics>;
  /** A hash that is equal exactly if the policy's weights are equal. */
  readonly parametersHash: () => Promise<string>;
  readonly dispose: () => void;
}

/** What a run begins with, besides its knobs. */
interface RunOrigin {
  readonly facts?: Facts | null;
  readonly resumedFrom?: Checkpoint | null;
  readonly openedBase?: BaseCheckpoint | null;
}

/**
 * Builds a run: environment, backend, weights, trainer. While it opens, `onEvent` gets the phases and `ready`; all later
 * events come from `events`, those of imitation first. With `resumedFrom` the run continues from that checkpoint. A run
 * that trains adapters needs the open checkpoint in `openedBase`. If the batch of a person's environment doesn't fit
 * into memory, a new run has fewer prompts; `ready` has the knobs that it uses. Until this returns, the caller keeps its old run.
 * Throws ConfigError or BackendError if the configuration is impossible on this machine, CheckpointError if
 * `resumedFrom` belongs to another model or environment, BaseNeededError if `openedBase` is missing or isn't the
 * checkpoint that the run began with.
 */
export async function openSession(
  requested: RunConfig,
  host: Host,
  onEvent: (event: RunEvent) => void,
  origin: RunOrigin = {},
): Promise<Session> {
  const { resumedFrom = null } = origin;
  const prepared = await prepareRun(requested, host, origin);
  const { base, env, chatTokenizer } = prepared;
  onEvent({ type: 'phase', phase: 'compiling', update: 0, done: 0, total: 0 });
  const stage = new StageProgress(onEvent, host.now);
  const openWith = (knobs: RunConfig) =>
    openNetworks({ startConfig: knobs, env, host, resumedFrom, base, stage }, (event) =>
      onEvent(stage.withTimeLeft(event)),
    );
  const { config: startConfig, opened: networks } =
    resumedFrom || base
      ? { config: prepared.startConfig, opened: await openWith(prepared.startConfig) }
      : await withFittingBatch(prepared.startConfig, openWith);
  onEvent({
    type: 'ready',
    backend: networks.policy.backend,
    config: resumedFrom?.config ?? startConfig,
    update: resumedFrom?.progress.update ?? 0,
    vocabulary: env.vocabulary,
    ...modelCost(networks.policy),
  });
  return sessionOf({ env, chatTokenizer, base, stage, ...networks, host, startConfig, resumedFrom });
}

/**
 * Throws the errors of `openSession` that can be found without allocating anything: about knobs, checkpoint,
 * environment, and a language model's memory.
 */
export async function checkPossible(
  requested: RunConfig,
  host: Host,
  facts: Facts | null,
  resumedFrom: Checkpoint | null,
  openedBase: BaseCheckpoint | null,
): Promise<void> {
  const { startConfig, base } = await prepareRun(requested, host, { facts, resumedFrom, openedBase });
  if (!base) return;
  const [{ checkFits }, { plannedTraining }] = await Promise.all([
    import('./trainingMemory.ts'),
    import('./plannedTraining.ts'),
  ]);
  checkFits(await plannedTraining(startConfig, base, host));
}

async function prepareRun(
  wanted: RunConfig,
  host: Host,
  { facts = null, resumedFrom: from = null, openedBase = null }: RunOrigin,
) {
  const startConfig = from?.begun ?? wanted;
  const problems = contradictions(startConfig);
  if (problems.length > 0) throw new ConfigError(problems);
  const base = startConfig.model === 'checkpoint' ? baseOf(from, openedBase) : null;
  // a run that was saved in the middle of its imitation still has to imitate
  const sources = { facts, chatTokenizer: from?.chatTokenizer ?? null, base, isContinued: hasImitated(from) };
  const opened = await openEnvironment(startConfig, sources, host);
  const { env } = opened;
  if (startConfig.teacher === 'expert' && (env.asyncAnswers !== undefined || env.hasExpert === false)) {
    env.asyncAnswers?.close();
    throw new ConfigError([NO_EXPERT]);
  }
  return { startConfig, base, ...opened };
}

/** The open checkpoint, if it is the one that the run trains adapters for. Throws BaseNeededError otherwise. */
function baseOf(resumedFrom: Checkpoint | null, openedBase: BaseCheckpoint | null): BaseCheckpoint {
  if (resumedFrom?.base) checkBase(resumedFrom.base, openedBase?.mark ?? null);
  if (!openedBase) throw new BaseNeededError(null, null);
  return openedBase;
}

interface SessionParts extends Pick<Session, 'env' | 'chatTokenizer' | 'base'>, OpenedNetworks {
  readonly stage: StageProgress;
  readonly host: Host;
  readonly startConfig: RunConfig;
  readonly resumedFrom: Checkpoint | null;
}

function sessionOf({
  env,
  chatTokenizer,
  base,
  stage,
  host,
  startConfig,
  resumedFrom,
  ...opened
}: SessionParts): Session {
  let { policy, openingWeights, start, rewardModel } = opened;
  const imitates = start === null;
  let begun = startConfig;
  let config = resumedFrom?.config ?? startConfig;
  let plan: readonly KnobChange[] = [];
  const history = new RunHistory();
  const adaptedPolicies = base && new AnsweringPolicies(base, adapterConfig(startConfig), host);
  let progress = structuredClone(resumedFrom?.progress ?? noProgress());
  const weightQueue: WeightQueue = { earlier: resumedFrom?.earlier ?? [] };
  const demonstrations = () =>
    start ? null : currentDemonstrations({ policy, env, startConfig: () => begun, progress });
  const openReaders = () =>
    new Readers({
      policy,
      env,
      history,
      initialWeights: () => (base ? openingWeights : (start ?? openingWeights)),
      referenceWeights: () => start ?? openingWeights,
      config: () => config,
      demonstrations,
      adaptedPolicies,
    });
  let readers = openReaders();
  const yieldToEvents = (base && host.yieldOrWait) ?? host.yieldToEvents;
  const onImitated = async () => {
    if (config.teacher !== 'shipped') policy.freezeReference();
    start = (await policy.readState()).policy.weights;
    rewardModel ??= openRewardModel(policy, config, null, start);
  };
  const setBegun = (knobs: ChosenKnobs) => {
    begun = { ...begun, ...knobs };
    config = { ...config, ...knobs };
  };
  /** Replaces the model with an untrained larger one. The run is then as if it had begun with that. */
  const startLarger = async (): Promise<TrainingEvent> => {
    const knobs = LARGER_SIZES;
    const sources = { startConfig: { ...begun, ...knobs }, env, host, resumedFrom: null, base: null, stage };
    const larger = await openNetworks(sources, () => undefined);
    readers.dispose();
    policy.destroy();
    ({ policy, openingWeights } = larger);
    setBegun(knobs);
    progress = noProgress();
    readers = openReaders();
    return { type: 'imitation-changed', knobs, larger: modelCost(policy) };
  };
  const configAt = (update: number, step: number) => {
    const due = plan.filter((change) => isDue(change, { update, step }));
    plan = plan.slice(due.length);
    for (const { set } of due) config = configAfterChanges(config, set);
    return config;
  };
  async function* trainingStages(lastConfig: RunConfig | null): AsyncGenerator<TrainingEvent, never> {
    const triesTasks = base === null; // beside a checkpoint an episode takes seconds
    const parts = { env, startConfig: () => begun, yieldToEvents, onImitated, triesTasks, onChosen: setBegun };
    while (!start) if ((yield* imitation({ ...parts, policy, progress })) === 'larger') yield await startLarger();
    return yield* train({
      ...{ ...host, policy, env, rewardModel, progress, weightQueue, lastConfig, yieldToEvents, config: configAt },
      ...(base && { onPlayed: (done, total) => stage.reportPart(done, total) }),
      onLearned: (lesson) => history.keepLesson(lesson),
    });
  }
  const training = (lastConfig: RunConfig | null) => recordBatches(trainingStages(lastConfig), { history, stage });
  let events = training(resumedFrom && config);
  return {
    config: () => config,
    get policy() {
      return policy;
    },
    env,
    chatTokenizer,
    base,
    history,
    answer: (question) => answer(readers, question),
    get events() {
      return events;
    },
    checkpoint: async () => {
      const { kernels } = policy.backend;
      const kernelChoice = kernels && { kernels: kernels.choice };
      const networks = await policy.readState();
      const rewardModelState = rewardModel && (await rewardModel.state());
      const vocabulary = base ? [] : env.vocabulary; // the tokens of `base` are in its own files
      // the number of updates only says where the run ends: the run is the same as one that began with its present number
      const parts = {
        begun: { ...begun, updates: config.updates },
        config,
        vocabulary,
        networks,
        rewardModel: rewardModelState,
        progress,
      };
      const baseParts = base && { base: base.mark };
      // the weights after imitation are always saved, because repeating it takes minutes; in a person's environment also
      // those of a run that didn't imitate, because its file may have changed when the run continues
      const isSaved = imitates || startConfig.env === YOUR_ENVIRONMENT || resumedFrom?.start !== undefined;
      const startParts = start && (base !== null || isSaved) && { start };
      return checkpointOf({
        ...parts,
        ...kernelChoice,
        ...(chatTokenizer && { chatTokenizer }),
        ...startParts,
        ...(weightQueue.earlier.length > 0 && { earlier: weightQueue.earlier }),
        ...baseParts,
      });
    },
    restore: (checkpoint) => {
      policy.writeState(checkpoint.networks);
      if (checkpoint.rewardModel) rewardModel?.restore(checkpoint.rewardModel);
      progress = structuredClone(checkpoint.progress);
      weightQueue.earlier = checkpoint.earlier ?? [];
      if (imitates) start = checkpoint.start ?? null;
      events = training(config);
    },
    configure: (changes) => {
      config = configAfterChanges(config, changes);
      plan = withoutKnobs(plan, Object.keys(changes));
    },
    isImitating: () => start === null,
    endImitation: () => {
      // a step may be under way; it is the last one then
      const knobs = start ? null : shorterImitation(begun, progress.imitated + 1);
      if (knobs) setBegun(knobs);
      return knobs;
    },
    plan: (changes) => {
      plan = changes.filter((change) => !isDue(change, { update: progress.update, step: Infinity }));
    },
    prefer: (better, worse) => {
      if (!rewardModel) {
        throw new ConfigError([NO_REWARD_MODEL]);
      }
      rewardModel.prefer(better, worse);
    },
    evaluate: async () => (await evaluate(policy, env, config, 0, host)).values,
    parametersHash: async () => tensorsHash(policy.parameters, (await policy.readState()).policy.weights),
    dispose: () => {
      readers.dispose();
      rewardModel?.destroy();
      policy.destroy();
      env.asyncAnswers?.close();
    },
  };
}

function modelCost({ parameters, memoryBytes }: Policy): ModelCost {
  return { parameters: parameters.reduce((sum, { size }) => sum + size, 0), memoryBytes };
}

/**
 * Passes the events of training on, phases with the time left. It adds each batch to the history first, and to the
 * batch's event the list of kept updates and their size in bytes.
 */
async function* recordBatches(
  events: AsyncGenerator<TrainingEvent, never>,
  { history, stage }: { readonly history: RunHistory; readonly stage: StageProgress },
): AsyncGenerator<RunEvent, never> {
  for (;;) {
    stage.resume();
    const { value } = await events.next();
    const event = stage.withTimeLeft(value);
    if (event.type !== 'batch') {
      yield event;
      continue;
    }
    history.keepBatch(event.batch, event.config);
    yield { ...event, kept: history.updates, bytes: history.bytes };
  }
}

const NO_EXPERT: Problem = {
  ...{
    place: 'teacher',
    what: 'expert, but this environment has no expert that can be asked in the middle of an episode.',
  },
  remedy: 'Set teacher to none or start.',
};

const NO_REWARD_MODEL: Problem = {
  ...{ place: 'rewardModel', what: 'off, so there is nothing to train.' },
  remedy: 'Set it to on and start a new run.',
};
