import { parseConfig } from '../config/config.ts';
import type { EnvName } from '../config/environments.ts';
import type { RunConfig } from '../config/fields.ts';
import type { ChosenTask, AskForm } from '../domain/taskForm.ts';
import { REWARD_PARTS } from '../domain/episode.ts';
import { Role } from '../domain/tokens.ts';
import type { EpisodeSeeds, ToolEnv } from '../envs/env.ts';
import { createEnv, envSettings } from '../envs/index.ts';
import { playExpert } from '../envs/players.ts';
import { openEpisode, type Stepper, type EpisodeConditions } from '../envs/stepper.ts';
import type { Facts } from '../facts/facts.ts';
import type { Codec } from '../text/codec.ts';
import type { ChatTokenizer } from '../text/chatTokenizer.ts';
import { withoutStop } from '../text/turnFormat.ts';
import { typedTurn } from '../text/outsideText.ts';
import type { ExpertPlay, PauseReason, TaskProgress, WriteOptions } from '../wire/speakerMessages.ts';
import type { OnWrote, Writer } from './writer.ts';

/** An environment whose tasks a checkpoint plays in text. */
export interface TaskEnv {
  readonly config: RunConfig;
  readonly env: ToolEnv;
}

/** Throws ProblemError if the checkpoint's chat template changes earlier text when turns are added. */
export function taskEnv(name: EnvName, facts: Facts | null, chatTokenizer: ChatTokenizer): TaskEnv {
  const config = parseConfig({ env: name, language: 'text' });
  return { config, env: createEnv(config, facts, chatTokenizer) };
}

/** The form in which a person writes a task in words; null if tasks can only be chosen by number. */
export function taskForm({ env: { taskForm: asking } }: TaskEnv): AskForm | null {
  return asking ? { doc: asking.doc, blanks: asking.blanks, example: asking.example } : null;
}

export interface TaskRequest {
  readonly asked: ChosenTask;
  readonly environmentSeed: number; // seed of the environment's random events
  /** Largest number of tokens in a turn; higher than in training, because a language model writes more. */
  readonly maxTurnTokens: number;
}

/** A model plays, or a person in its place. Text and episode always hold the same ids; the environment's answers are appended at once. */
export class TaskPlay {
  readonly #writer: Writer;
  readonly #openStepper: () => Stepper;
  readonly #expertPlay: () => ExpertPlay | null;
  readonly #judged: boolean;
  #stepper: Stepper;

  /** Begins the episode. Throws ProblemError if the words aren't a task, RangeError if the prompt is too long. */
  constructor(writer: Writer, { config, env }: TaskEnv, { asked, environmentSeed, maxTurnTokens }: TaskRequest) {
    const taskInWords = 'words' in asked ? env.taskForm?.makeTask(asked.words) : null;
    const { reset: begin, answerKnown: judged } = taskInWords ?? { reset: env.reset, answerKnown: true };
    const seeds = { seed: 'seed' in asked ? asked.seed : environmentSeed, environmentSeed };
    const maxTokens = writer.model.length;
    const conditions = { env: { ...env, maxTurnTokens }, settings: envSettings(config), begin, maxTokens };
    this.#writer = writer;
    this.#openStepper = () => openEpisode(conditions, seeds);
    this.#judged = judged;
    let cachedPlay: ExpertPlay | undefined; // so that the expert plays only once
    this.#expertPlay = () => (judged ? (cachedPlay ??= expertPlay(conditions, seeds, writer.codec)) : null);
    this.#stepper = this.#openStepper();
  }

  /** Writes the prompt into an empty text. */
  async begin(onWrote: OnWrote): Promise<void> {
    await this.#appendEnvironmentTokens(onWrote);
  }

  /** Lets the model play `turns` turns, or to the end. */
  async play(turns: number, writing: WriteOptions, onWrote: OnWrote): Promise<PauseReason> {
    const last = this.#stepper.turn + turns;
    while (this.#stepper.stop === null && this.#stepper.turn < last) {
      const token = await this.#writer.draw(writing, this.#stepper.turn, []);
      const notStopped = await onWrote(this.#writer.written.length - 1, [token]);
      const mayContinue = (await this.#passToEpisode([token.id], onWrote)) && notStopped;
      if (!mayContinue) return 'stopped';
    }
    return this.#stepper.stop === null ? 'turn' : 'over';
  }

  /** Plays a turn that a person typed in the model's place. The token that ends the turn is added. */
  async playTyped(text: string, onWrote: OnWrote): Promise<PauseReason> {
    const { turn, budget } = this.#stepper;
    const ids = typedTurn(this.#writer.codec, text, budget);
    for (const id of ids) {
      // a stop token within the typed text ends the turn
      if (this.#stepper.stop !== null || this.#stepper.turn !== turn) break;
      const token = await this.#writer.choose(id, turn);
      await onWrote(this.#writer.written.length - 1, [token]);
      await this.#passToEpisode([id], onWrote);
    }
    return this.#stepper.stop === null ? 'turn' : 'over';
  }

  /** The model continues the turn from the new token. Throws RangeError if the token at index `at` is not the agent's. */
  async replaceToken(at: number, token: number, writing: WriteOptions, onWrote: OnWrote): Promise<PauseReason> {
    const replaced = this.#writer.written[at];
    if (replaced?.role !== Role.action)
      throw new RangeError(`Token ${at} isn’t one of the agent’s own. Choose a token of the agent.`);
    const stepper = this.#openStepper();
    for (const { id, role } of this.#writer.written.slice(0, at)) if (role === Role.action) stepper.take(id);
    this.#stepper = stepper;
    this.#writer.truncate(at);
    const chosen = await this.#writer.choose(token, replaced.turn);
    await onWrote(at, [chosen]);
    const mayContinue = await this.#passToEpisode([token], onWrote);
    if (!mayContinue || this.#stepper.stop !== null) return mayContinue ? 'over' : 'stopped';
    return this.#stepper.turn > replaced.turn ? 'turn' : this.play(1, writing, onWrote);
  }

  get state(): TaskProgress {
    const { episode, stop, success, finishedTurns: taken, rewardSums: parts, env } = this.#stepper;
    return {
      question: episode.question,
      tools: env.tools.map(({ name }) => name),
      stop,
      success,
      judged: this.#judged,
      reward: REWARD_PARTS.reduce((sum, part) => sum + parts[part], 0),
      turns: taken.map(({ turn, parts: each, valid, toolCall }) => ({
        ...{ turn, valid, toolCall },
        reward: REWARD_PARTS.reduce((sum, part) => sum + each[part], 0),
      })),
      expert: stop === null ? null : this.#expertPlay(),
    };
  }

  /** The ids are in the text already. Writes the environment's answer; returns whether the task can continue. */
  async #passToEpisode(ids: readonly number[], onWrote: OnWrote): Promise<boolean> {
    for (const id of ids) {
      if (!this.#stepper.allows(id)) {
        throw new RangeError(
          `The model drew the token id ${id}, which its tokenizer doesn’t know. The task can’t go on.`,
        );
      }
      this.#stepper.take(id);
    }
    return this.#appendEnvironmentTokens(onWrote);
  }

  /** Appends to the text what the environment has added to the episode. Returns whether writing may continue. */
  async #appendEnvironmentTokens(onWrote: OnWrote): Promise<boolean> {
    const newTokens = this.#stepper.tokens.slice(this.#writer.written.length);
    const [first] = newTokens;
    if (!first) return true;
    return this.#writer.append(
      newTokens.map(({ token }) => token),
      first.role,
      first.turn,
      onWrote,
    );
  }
}

/** Plays the task with the scripted expert. Returns its turns as text. */
function expertPlay(conditions: EpisodeConditions, seeds: EpisodeSeeds, codec: Codec): ExpertPlay {
  const { tokens, roles, turns, finishedTurns, success, reward } = playExpert(conditions, seeds);
  const turnTexts = finishedTurns.map(({ turn }) => {
    const ids = [...tokens].filter((_, t) => turns[t] === turn && roles[t] === Role.action);
    return codec.decode(withoutStop(ids, codec.stops));
  });
  return { success, reward, turns: turnTexts };
}
