import { REWARD_PARTS, type RewardPart, type StopReason } from '../domain/episode.ts';
import { type BodyRange, type Grammar, Role } from '../domain/tokens.ts';
import type { RetokenizedSpan } from '../text/retokenization.ts';
import type { PendingTurn, EnvSettings, Episode, EpisodeSeeds, Reset, ToolEnv, TurnResult } from './env.ts';

export interface EpisodeConditions {
  readonly env: ToolEnv;
  readonly settings: EnvSettings;
  readonly begin?: Reset; // begins the episode; default: `env.reset`, a training task
  readonly maxTokens?: number; // largest number of tokens in the episode; default: `env.maxTokens`
  /** Set if each turn begins a context of its own: what it is shown again, after the prompt. Absent: the episode is one context. */
  readonly shown?: ShownAgain;
  readonly timer?: EnvironmentTimer; // adds up the environment's time
  readonly asksExpert?: boolean; // the expert is asked before each turn, for `EpisodeToken.expertToken`; absent: no
}

/** The past turns that a context shows again: how many of the last, and whether with what the agent wrote, not only with the answers. */
export interface ShownAgain {
  readonly turns: number;
  readonly actions: boolean;
}

/** Adds up the time between each question to the environment and its answer. */
export interface EnvironmentTimer {
  readonly now: () => number; // ms
  spentMs: number; // ms so far
}

export interface EpisodeToken {
  readonly token: number;
  readonly role: Role;
  /** From 1; 0 in the prompt. An observation, and what is shown again with it, has the number of the turn it answers. */
  readonly turn: number;
  readonly grammarState: number; // grammar state the token was drawn in; 0 for tokens of the environment
  readonly onlyLegal: boolean; // true: the agent drew it where the grammar allowed no other token
  readonly inBody: boolean; // true: a word of an observation, not its tags or chat markup
  readonly contextStart: number; // index into `tokens` of the first token that the agent saw when it drew or read this one
  readonly logprob: number; // as in `TokenOrigin`
  readonly drawnLogprob: number;
  /** 1 + the id of the token that the expert would have drawn there; 0 if unknown: not asked, or the turn differs from the expert's already. */
  readonly expertToken: number;
  readonly drifted: boolean; // true: its turn was encoded again, and other tokens of the same text were drawn in its place
}

export interface TokenReward {
  readonly tokenIndex: number; // index into `tokens`; may be a token that the policy has not read yet
  readonly part: RewardPart;
  readonly reward: number;
}

export type FinishedTurn = Pick<TurnResult, 'parts' | 'valid' | 'toolCall' | 'waited'> & { readonly turn: number };

/**
 * An episode in progress. A policy, a script, a person or an expert plays the agent and gives one token at a time to
 * `take`. The environment's tokens (the prompt, an observation) are added to `tokens` as soon as they exist. A token's
 * role depends only on who wrote it: tokens given to `take` are actions, all others are prompt or observation.
 */
export interface Stepper {
  readonly env: ToolEnv;
  readonly timer: EnvironmentTimer | undefined; // the timer of the episode's conditions
  readonly seeds: EpisodeSeeds;
  readonly episode: Episode;
  readonly tokens: readonly EpisodeToken[]; // all tokens so far, including the prompt
  /** For each turn so far whose tokens changed when it was encoded again: the index of its first token that did. */
  readonly rewrites: readonly number[];
  readonly tokenRewards: readonly TokenReward[];
  readonly finishedTurns: readonly FinishedTurn[];
  readonly rewardSums: Readonly<Record<RewardPart, number>>; // sum of rewards so far, by part
  readonly turn: number; // number of the current turn, from 1
  readonly turnLength: number; // tokens the agent has drawn in the current turn
  readonly grammarState: number; // grammar state of the next draw
  readonly success: boolean;
  readonly stop: StopReason | null; // why the episode ended; null while it goes on
  /** The turn that waits for an environment that answers later (`ToolEnv.asyncAnswers`). Null if no turn waits. */
  readonly pendingTurn: PendingTurn | null;
  /**
   * How many more tokens the agent may draw before its turn is cut off or the episode reaches its token limit. 0 when
   * the episode is over, or while a turn waits for the environment.
   */
  readonly budget: number;
  /** Ids the agent may draw now. Empty when the episode is over, or while a turn waits for the environment. */
  allowed(): readonly number[];
  /** True if the agent may draw this id now. */
  allows(token: number): boolean;
  /**
   * Adds the agent's next token. The turn ends when the grammar ends it or the budget is used up; then the environment
   * answers, or the turn waits until it does. Throws RangeError if the token is not legal here or the episode is over.
   * The log-probabilities are those with which the policy drew it, see `TokenOrigin`.
   */
  take(token: number, logprob?: number, drawnLogprob?: number): void;
  /**
   * Ends the episode here, as if it had reached its token limit. A turn in progress gets the penalty of a malformed
   * turn, so never finishing a turn is not better than finishing it badly. Throws RangeError if the episode is over.
   */
  cut(): void;
  /** Delivers the result for the waiting turn. Throws RangeError if no turn waits. */
  receive(result: TurnResult): void;
}

/**
 * Begins an episode. `seeds.seed` chooses the task and `seeds.environmentSeed` the environment's random events. The
 * same seeds and the same tokens give the same episode.
 *
 * A turn's reward goes on its last action token, and the reward for a thought on its `</think>`. With
 * `rewardOnLastAction` off, a turn's reward goes on the last token of the observation that follows it (Agent-R1 of 2025); the
 * last turn has no observation, so its reward stays on its action. Nothing is written after the episode is over. If the
 * episode reaches its token limit, it ends with the stop reason 'tokens'. If that happens inside a turn, the turn gets
 * the penalty of a malformed turn and no tool runs.
 *
 * With `shown`, every turn after the first begins with the prompt again, then the turns that it shows and their
 * observations, of which the newest is an observation and the rest has the role of a prompt. All of these count against
 * the token limit.
 *
 * With `settings.retokenize`, an answered turn is decoded to text and encoded again, the last one too, before its reward
 * is placed: the new tokens take its place in `tokens`. Those that drifted share equally the log-probability of the
 * tokens in whose place they are, so its sum stays that of what was drawn. With `shownTurns`, each turn keeps the tokens
 * that were drawn, and later turns are shown the new ones. A turn that the token limit cuts off stays as it was drawn,
 * and so does one that would then not fit.
 *
 * Throws RangeError if the prompt does not fit. Also throws the errors of `begin`: it fails if the environment answers
 * later, because `openAll` has to open such an episode.
 */
export function openEpisode(conditions: EpisodeConditions, seeds: EpisodeSeeds): Stepper {
  const { env, settings, begin = env.reset, timer } = conditions;
  const episode = timed(timer, () => begin(seeds.seed, settings, seeds.environmentSeed));
  return new EpisodeStepper(conditions, seeds, episode);
}

function timed<T>(timer: EnvironmentTimer | undefined, run: () => T): T {
  if (!timer) return run();
  const startTime = timer.now();
  const answer = run();
  timer.spentMs += timer.now() - startTime;
  return answer;
}

/** Calls `run` and adds the time until its promise resolves to the timer. Returns its result. */
async function timedAsync<T>(timer: EnvironmentTimer | undefined, run: () => Promise<T>): Promise<T> {
  const startTime = timer?.now() ?? 0;
  const answer = await run();
  if (timer) timer.spentMs += timer.now() - startTime;
  return answer;
}

/** Begins an episode for each task, as `openEpisode` does. Waits if the environment answers later. */
export async function openAll(
  conditions: EpisodeConditions,
  tasks: readonly EpisodeSeeds[],
): Promise<readonly Stepper[]> {
  const { env, settings, begin = env.reset, timer } = conditions;
  const { opener } = begin;
  if (!opener) return tasks.map((seeds) => openEpisode(conditions, seeds));
  const episodes = await timedAsync(timer, () => opener.open(tasks, settings));
  try {
    return tasks.map((seeds, i) => new EpisodeStepper(conditions, seeds, itemAt(episodes, i)));
  } catch (error) {
    env.asyncAnswers?.release(episodes);
    throw error;
  }
}

/** Asks the environment for the results of all waiting turns, in one call. Does nothing if no turn waits. */
export async function answerAll(steppers: readonly Stepper[]): Promise<void> {
  const waiting = steppers.filter(({ pendingTurn }) => pendingTurn !== null);
  const asyncAnswers = waiting[0]?.env.asyncAnswers;
  if (!asyncAnswers) return;
  const results = await timedAsync(waiting[0]?.timer, () =>
    asyncAnswers.answer(waiting.flatMap(({ pendingTurn: turn }) => turn ?? [])),
  );
  for (const [i, stepper] of waiting.entries()) stepper.receive(itemAt(results, i));
}

/** Tells an environment that answers later that these episodes will not be continued. */
export function releaseAll(steppers: readonly Stepper[]): void {
  steppers[0]?.env.asyncAnswers?.release(steppers.map(({ episode }) => episode));
}

function itemAt<T>(list: readonly T[], i: number): T {
  const item = list[i];
  if (item === undefined)
    throw new RangeError(`the environment gave ${list.length} answers, and at least ${i + 1} are needed.`);
  return item;
}

const NO_REWARDS: Stepper['rewardSums'] = {
  ...{ outcome: 0, process: 0, call: 0, format: 0, think: 0, turnCost: 0, preference: 0, information: 0 },
};

class EpisodeStepper implements Stepper {
  readonly env: ToolEnv;
  readonly timer: EnvironmentTimer | undefined;
  readonly seeds: EpisodeSeeds;
  readonly episode: Episode;
  readonly tokens: EpisodeToken[] = [];
  readonly rewrites: number[] = [];
  readonly tokenRewards: TokenReward[] = [];
  readonly finishedTurns: FinishedTurn[] = [];
  rewardSums: Stepper['rewardSums'] = NO_REWARDS;
  turn = 1;
  grammarState: number;
  success = false;
  stop: StopReason | null = null;
  pendingTurn: PendingTurn | null = null;
  readonly #settings: EnvSettings;
  readonly #maxTokens: number;
  readonly #grammar: Grammar;
  readonly #shown: ShownAgain | undefined;
  readonly #pastTurns: number[][] = []; // as they are shown again; the newest without its observation
  #contextStart = 0;
  #action: number[] = [];
  readonly #asksExpert: boolean;
  #expertTurn: readonly number[] = []; // of the current turn; empty once the turn differs

  constructor(
    { env, settings, maxTokens = env.maxTokens, timer, shown, asksExpert = false }: EpisodeConditions,
    seeds: EpisodeSeeds,
    episode: Episode,
  ) {
    this.env = env;
    this.timer = timer;
    this.seeds = seeds;
    this.episode = episode;
    this.#settings = settings;
    this.#maxTokens = maxTokens;
    this.#shown = shown;
    this.#asksExpert = asksExpert;
    this.#grammar = env.grammar(settings.grammar);
    this.grammarState = episode.grammarState;
    const { length } = episode.prompt;
    if (length > maxTokens)
      throw new RangeError(`openEpisode: the prompt has ${length} tokens, and at most ${maxTokens} fit.`);
    this.#write(episode.prompt, Role.prompt, 0);
    if (length === maxTokens) this.stop = 'tokens';
  }

  get turnLength(): number {
    return this.#action.length;
  }

  get budget(): number {
    if (this.stop !== null || this.pendingTurn !== null) return 0;
    return Math.min(this.env.maxTurnTokens - this.#action.length, this.#maxTokens - this.tokens.length);
  }

  allowed(): readonly number[] {
    return this.stop === null && this.pendingTurn === null ? legalTokens(this.#grammar, this.grammarState) : [];
  }

  allows(token: number): boolean {
    const { next, vocabulary } = this.#grammar;
    const isValidId = Number.isInteger(token) && token >= 0 && token < vocabulary;
    return (
      this.stop === null && this.pendingTurn === null && isValidId && next[this.grammarState * vocabulary + token]! >= 0
    );
  }

  take(token: number, logprob = 0, drawnLogprob = logprob): void {
    if (this.stop !== null) throw new RangeError(`Stepper.take: token ${token} comes after the end.`);
    if (!this.allows(token)) {
      throw new RangeError(`Stepper.take: the grammar does not allow token ${token} there.`);
    }
    const { next, stop, vocabulary } = this.#grammar;
    const onlyLegal = legalTokens(this.#grammar, this.grammarState).length === 1;
    const { turn, grammarState } = this;
    const origin = { turn, grammarState, onlyLegal, contextStart: this.#contextStart, logprob, drawnLogprob };
    const expertToken = this.#asksExpert ? this.#nextOfExpert(token) : 0;
    this.tokens.push({ token, role: Role.action, ...origin, expertToken, inBody: false, drifted: false });
    this.#action.push(token);
    this.grammarState = next[this.grammarState * vocabulary + token]!;
    if (stop[this.grammarState] === 1 || this.#action.length >= this.env.maxTurnTokens) this.#endTurn();
    else if (this.tokens.length >= this.#maxTokens) this.cut();
  }

  /** `EpisodeToken.expertToken` of the token that the agent draws now. */
  #nextOfExpert(token: number): number {
    if (this.#action.length === 0) this.#expertTurn = this.episode.expert();
    const wanted = this.#expertTurn[this.#action.length];
    if (wanted !== token) this.#expertTurn = [];
    return wanted === undefined || !this.allows(wanted) ? 0 : wanted + 1;
  }

  #write(tokens: readonly number[], role: Role, turn: number, [from, to]: BodyRange = [0, 0]): void {
    const origin = { role, turn, grammarState: 0, onlyLegal: false, contextStart: this.#contextStart };
    const notDrawn = { logprob: 0, drawnLogprob: 0, expertToken: 0, drifted: false };
    for (const [i, token] of tokens.entries())
      this.tokens.push({ token, ...origin, inBody: i >= from && i < to, ...notDrawn });
  }

  /** What the next turn shows before the newest observation, if it begins a context. */
  #shownAgain(): number[] {
    if (!this.#shown) return [];
    const forgotten = Math.max(0, this.#pastTurns.length - this.#shown.turns);
    return [...this.episode.prompt, ...this.#pastTurns.slice(forgotten).flat()];
  }

  receive(result: TurnResult): void {
    if (this.pendingTurn === null) throw new RangeError('Stepper.receive: no turn waits for a result.');
    this.pendingTurn = null;
    this.#finishTurn(result);
  }

  /** If the environment answers later, the turn waits for the answer (`pendingTurn`). */
  #endTurn(): void {
    if (this.env.asyncAnswers)
      this.pendingTurn = { episode: this.episode, action: this.#action, settings: this.#settings };
    else this.#finishTurn(timed(this.timer, () => this.episode.step(this.#action, this.#settings)));
  }

  /** Records the reward of the finished turn. Then writes the observation, or ends the episode. */
  #finishTurn(result: TurnResult): void {
    const { observation, body, parts, valid, toolCall, waited } = result;
    const spans = this.#settings.retokenize ? this.episode.retokenize?.(this.#action) : undefined;
    const written = spans?.flatMap(({ encoded }) => encoded) ?? [...this.#action];
    this.#pastTurns.push(this.#shown?.actions === false ? [] : written);
    if (spans && !this.#shown) this.#rewrite(spans);
    const shownAgain = this.#shownAgain();
    const addedTokens = shownAgain.length + observation.length;
    const answered = result.stop === null && this.tokens.length + addedTokens < this.#maxTokens;
    this.#recordRewards(result, answered && !this.#settings.rewardOnLastAction ? addedTokens : 0);
    this.finishedTurns.push({ turn: this.turn, parts, valid, toolCall, waited });
    this.success = result.success;
    if (!answered) {
      this.stop = result.stop ?? 'tokens'; // the observation and one more token don't fit, so the episode ends here
      return;
    }
    if (this.#shown) this.#contextStart = this.tokens.length;
    this.#write(shownAgain, Role.prompt, this.turn);
    this.#write(observation, Role.observation, this.turn, body);
    this.#pastTurns.at(-1)?.push(...observation);
    this.turn++;
    this.#action = [];
    this.grammarState = result.grammarState;
  }

  /** Replaces the tokens of the turn by those that it is encoded to, if they differ and fit. */
  #rewrite(spans: readonly RetokenizedSpan[]): void {
    const start = this.tokens.length - this.#action.length;
    let at = start;
    const written = spans.flatMap(({ drawn, encoded }) => {
      const replaced = this.tokens.slice(at, (at += drawn.length));
      if (encoded.length === drawn.length && encoded.every((id, i) => id === drawn[i])) return replaced;
      const share = (field: 'logprob' | 'drawnLogprob') =>
        replaced.reduce((sum, token) => sum + token[field], 0) / encoded.length;
      const drift = {
        logprob: share('logprob'),
        drawnLogprob: share('drawnLogprob'),
        onlyLegal: false,
        expertToken: 0,
        drifted: true,
      };
      return encoded.map((token) => ({ ...replaced[0]!, token, ...drift }));
    });
    const first = written.findIndex(({ drifted }) => drifted);
    if (first < 0 || start + written.length > this.#maxTokens) return;
    this.tokens.splice(start, this.#action.length, ...written);
    this.rewrites.push(start + first);
    this.#action = written.map(({ token }) => token);
  }

  cut(): void {
    if (this.stop !== null) throw new RangeError('Stepper.cut: the episode is over.');
    this.stop = 'tokens';
    if (this.#action.length === 0) return;
    const parts = { ...NO_REWARDS, format: 0 - this.#settings.invalidPenalty };
    this.#recordRewards({ parts, thinkEnd: -1 }, 0);
    this.finishedTurns.push({ turn: this.turn, parts, valid: false, toolCall: false, waited: 0 });
  }

  /** A thought's reward goes on its `</think>`, all others on the token `offset` places after the turn's last token. */
  #recordRewards({ parts, thinkEnd }: Pick<TurnResult, 'parts' | 'thinkEnd'>, offset: number): void {
    const end = this.tokens.length - 1;
    const start = end - this.#action.length + 1;
    for (const part of REWARD_PARTS) {
      if (parts[part] === 0) continue;
      const tokenIndex = part === 'think' && thinkEnd >= 0 ? start + thinkEnd : end + offset;
      this.tokenRewards.push({ tokenIndex, part, reward: parts[part] });
    }
    const sums = REWARD_PARTS.map((part) => [part, this.rewardSums[part] + parts[part]]);
    this.rewardSums = Object.fromEntries(sums) as Record<RewardPart, number>;
  }
}

const allowedIds = new WeakMap<Grammar, Map<number, readonly number[]>>();

/** Returns the ids that are legal in a state of a grammar, in ascending order. */
export function legalTokens(grammar: Grammar, state: number): readonly number[] {
  const states = allowedIds.get(grammar) ?? new Map<number, readonly number[]>();
  allowedIds.set(grammar, states);
  const cached = states.get(state);
  if (cached) return cached;
  const { next, vocabulary } = grammar;
  const row = Array.from(next.subarray(state * vocabulary, (state + 1) * vocabulary));
  const allowed = row.flatMap((to, id) => (to >= 0 ? [id] : []));
  states.set(state, allowed);
  return allowed;
}
