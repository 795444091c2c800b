import { REWARD_PARTS, type RewardPart, type StopReason } from '../domain/episode.ts';
import { type Grammar, Role } from '../domain/tokens.ts';
import { allowedIn } from './allowedTokens.ts';
import type { EnvSettings, Episode, Reset, ToolEnv, TurnResult } from './env.ts';
import type { EpisodeSeeds } from './turnRules.ts';

/** What an episode is played under. */
export interface Table {
  readonly env: ToolEnv;
  readonly settings: EnvSettings;
  readonly begin?: Reset; // begins the episode; the environment's own tasks without it
  readonly room?: number; // tokens an episode may hold; without it the environment's own bound
}

/** A token of an episode: who wrote it and where. */
export interface WrittenToken {
  readonly token: number;
  readonly role: Role;
  readonly turn: number; // from 1; 0 in the prompt; an observation belongs to the turn it answers
  readonly state: number; // grammar state it was drawn in; 0 for what the environment writes
  readonly single: boolean; // drawn where only one token was legal
}

/** A reward, and the token of the episode that it stands on. */
export interface Payment {
  readonly at: number; // may lie ahead in what the agent has not read yet, never beyond what is written
  readonly part: RewardPart;
  readonly reward: number;
}

/** A turn that was taken. */
export type TakenTurn = Pick<TurnResult, 'parts' | 'valid' | 'toolCall' | 'waited'> & { readonly turn: number };

/**
 * An episode under way, whoever is in the agent's place: a policy, a script, a person or an expert gives it token after token.
 * What the environment says (the prompt, an observation) is written as soon as it is said. Forced or drawn is the only bit
 * that decides a role.
 */
export interface Stepper {
  readonly env: ToolEnv;
  readonly seeds: EpisodeSeeds;
  readonly episode: Episode;
  readonly written: readonly WrittenToken[]; // so far, prompt included
  readonly payments: readonly Payment[];
  readonly taken: readonly TakenTurn[];
  readonly parts: Readonly<Record<RewardPart, number>>; // paid so far
  readonly turn: number; // under way, from 1
  readonly draft: number; // tokens of the turn under way
  readonly state: number; // grammar state of the next draw
  readonly success: boolean;
  readonly stop: StopReason | null; // null: it goes on
  /** Tokens that may be drawn before the environment speaks again or the episode is cut off; 0 once it is over. */
  readonly budget: number;
  /** Ids that may be drawn now; none once it is over. */
  allowed(): readonly number[];
  /** Whether an id may be drawn now. */
  allows(token: number): boolean;
  /**
   * The agent's next token. The turn is over when the grammar says so or its budget is spent; then the environment answers.
   * Throws RangeError on a token that is not legal where it would stand, or comes after the end.
   */
  take(token: number): void;
}

/**
 * Begins an episode: it is `seeds.seed`'s task with `seeds.luck`'s dice, and the same tokens lead through it the same way. Each
 * turn is paid on its last action token, a think span on its `</think>`; with `rewardOnLastAction` off a turn is paid on the last
 * token of the observation that follows it, where one does (Agent-R1). Nothing is written after the episode is over. Where
 * no room is left to draw, it is cut off ('tokens'); a turn that is cut is paid as a malformed one, and no tool runs. Throws RangeError when the prompt does not fit.
 */
export function openEpisode(table: Table, seeds: EpisodeSeeds): Stepper {
  return new Played(table, seeds);
}

const NO_REWARDS: Stepper['parts'] = {
  ...{ outcome: 0, process: 0, call: 0, format: 0, think: 0, turnCost: 0, preference: 0 },
};

class Played implements Stepper {
  readonly env: ToolEnv;
  readonly seeds: EpisodeSeeds;
  readonly episode: Episode;
  readonly written: WrittenToken[] = [];
  readonly payments: Payment[] = [];
  readonly taken: TakenTurn[] = [];
  parts: Stepper['parts'] = NO_REWARDS;
  turn = 1;
  state: number;
  success = false;
  stop: StopReason | null = null;
  readonly #settings: EnvSettings;
  readonly #room: number;
  readonly #grammar: Grammar;
  #action: number[] = [];

  constructor({ env, settings, begin = env.reset, room = env.maxTokens }: Table, seeds: EpisodeSeeds) {
    const episode = begin(seeds.seed, settings, seeds.luck);
    this.env = env;
    this.seeds = seeds;
    this.episode = episode;
    this.#settings = settings;
    this.#room = room;
    this.#grammar = env.grammar(settings.grammar);
    this.state = episode.state;
    const { length } = episode.prompt;
    if (length > room) throw new RangeError(`openEpisode: got a prompt of ${length} tokens; want at most ${room}.`);
    this.#force(episode.prompt, Role.prompt, 0);
    if (length === room) this.stop = 'tokens';
  }

  get draft(): number {
    return this.#action.length;
  }

  get budget(): number {
    if (this.stop !== null) return 0;
    return Math.min(this.env.maxTurnTokens - this.#action.length, this.#room - this.written.length);
  }

  allowed(): readonly number[] {
    return this.stop === null ? allowedIn(this.#grammar, this.state) : [];
  }

  allows(token: number): boolean {
    const { next, vocabulary } = this.#grammar;
    const known = Number.isInteger(token) && token >= 0 && token < vocabulary;
    return this.stop === null && known && next[this.state * vocabulary + token]! >= 0;
  }

  take(token: number): void {
    if (this.stop !== null) throw new RangeError(`Stepper.take: got token ${token} after the end; want none.`);
    if (!this.allows(token)) {
      throw new RangeError(`Stepper.take: token ${token} cannot stand there; want one that the grammar allows.`);
    }
    const { next, stop, vocabulary } = this.#grammar;
    const single = allowedIn(this.#grammar, this.state).length === 1;
    this.written.push({ token, role: Role.action, turn: this.turn, state: this.state, single });
    this.#action.push(token);
    this.state = next[this.state * vocabulary + token]!;
    if (stop[this.state] === 1 || this.#action.length >= this.env.maxTurnTokens) this.#endTurn();
    else if (this.written.length >= this.#room) this.#cutTurn();
  }

  #force(tokens: readonly number[], role: Role, turn: number): void {
    for (const token of tokens) this.written.push({ token, role, turn, state: 0, single: false });
  }

  /** Has the turn answered and paid, and writes the answer, or ends the episode. */
  #endTurn(): void {
    const result = this.episode.step(this.#action, this.#settings);
    const { observation, parts, valid, toolCall, waited } = result;
    const answered = result.stop === null && this.written.length + observation.length < this.#room;
    this.#pay(result, answered && !this.#settings.rewardOnLastAction ? observation.length : 0);
    this.taken.push({ turn: this.turn, parts, valid, toolCall, waited });
    this.success = result.success;
    if (!answered) {
      this.stop = result.stop ?? 'tokens'; // no room to read the answer and draw: it ends on the agent's own token
      return;
    }
    this.#force(observation, Role.observation, this.turn);
    this.turn++;
    this.#action = [];
    this.state = result.state;
  }

  /** Ends the episode inside a turn, which is paid as malformed: that it never ended must not pay better. */
  #cutTurn(): void {
    const parts = { ...NO_REWARDS, format: 0 - this.#settings.invalidPenalty };
    this.#pay({ parts, thinkEnd: -1 }, 0);
    this.taken.push({ turn: this.turn, parts, valid: false, toolCall: false, waited: 0 });
    this.stop = 'tokens';
  }

  /** Places what a turn is paid: thinking on its `</think>`, the rest `later` tokens behind the turn's last. */
  #pay({ parts, thinkEnd }: Pick<TurnResult, 'parts' | 'thinkEnd'>, later: number): void {
    const end = this.written.length - 1;
    const start = end - this.#action.length + 1;
    for (const part of REWARD_PARTS) {
      if (parts[part] === 0) continue;
      const at = part === 'think' && thinkEnd >= 0 ? start + thinkEnd : end + later;
      this.payments.push({ at, part, reward: parts[part] });
    }
    const sums = REWARD_PARTS.map((part) => [part, this.parts[part] + parts[part]]);
    this.parts = Object.fromEntries(sums) as Record<RewardPart, number>;
  }
}
