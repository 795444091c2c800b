import { useEffect, useRef } from 'react';
import type { RunConfig } from '../../config/fields.ts';
import type { EnvView } from '../../domain/envView.ts';
import type { Recording } from '../../runs/recording.ts';
import { Drawing } from '../drawings/Drawing.tsx';
import { Icon } from '../parts/Icon.tsx';
import { counted } from '../../page/words/numberText.ts';
import { useSize } from '../../page/browser/useSize.ts';
import { type PlayAnswer, useGame, writeWord, playTask } from '../../page/training/game.ts';
import { Board, Outcome, WIDE_ASPECT } from '../tokens/Board.tsx';
import { outcome, type SideResult, type Play, playOf, followedSeeds, otherSeeds } from '../../page/stage/play.ts';
import { useStage, ALL_STEPS } from '../../page/stage/stageStore.ts';
import { create } from 'zustand';
import { playQuestion } from '../../wire/questions.ts';
import { reply } from '../../page/training/inspect.ts';
import { question } from '../../page/training/transport.ts';

interface Props {
  readonly recording: Recording;
  readonly isOwn: boolean; // whether the agent comes from the reader's own run
}

/** Kinds of drawings that don't reveal the solution while someone plays. */
const SHOWN_IN_PLAY: readonly EnvView['kind'][] = ['number-line', 'grid', 'sum'];

/** A contest: the reader plays a task with buttons, then the agent plays the same task. */
export function Contest({ recording, isOwn }: Props) {
  const config = recording.begun;
  const { round, agent, won, draws } = useContest();
  const game = useGame((s) => s.playAnswer);
  const problem = useGame((s) => s.problem);
  useEffect(() => {
    beginContest(recording, recording.begun, isOwn);
    return endContest;
  }, [recording, isOwn]);
  const reader = game && resultOf(game);
  const readerDone = reader !== null;
  const roundWinner = reader && agent && winner(reader, agent.episode);
  const leave = () => useStage.setState({ inContest: false });
  return (
    <>
      <div className="boards" data-count={2}>
        <ReaderBoard game={game} config={config} won={roundWinner === 'reader'} />
        {agent ? (
          <Board
            title="The agent"
            play={agent}
            step={ALL_STEPS}
            config={config}
            side="after"
            glows={roundWinner === 'agent'}
          />
        ) : (
          <section className="board contest-waits centred soft" aria-label="The agent" data-side="after">
            <h2>The agent</h2>
            <p>{readerDone ? 'plays …' : 'plays the same task when you are through.'}</p>
          </section>
        )}
      </div>
      <p className="line duel-line wrap centred large" role="status" data-testid="tally">
        Round {round} · You <b>{won.reader}</b> : <b>{won.agent}</b> the agent
        {draws > 0 && `, ${counted(draws, 'draw')}`}
        {reader && agent && <span>{roundText(reader, agent.episode)}</span>}
        {problem && <span role="alert">{problem}</span>}
      </p>
      <div className="duel-buttons flex gap-5 centred">
        <button
          type="button"
          className="primary"
          disabled={!readerDone}
          onClick={() => nextRound(recording, config, isOwn)}
        >
          <Icon name="next" /> Next round
        </button>
        <button type="button" onClick={leave}>
          Back
        </button>
      </div>
    </>
  );
}

export function roundText(reader: SideResult, agent: SideResult): string {
  const winnerText = { reader: 'You win', agent: 'The agent wins', none: 'A draw' }[winner(reader, agent) ?? 'none'];
  return `${winnerText}. You: ${outcome(reader)}. Agent: ${outcome(agent)}.`;
}

/** The reader's result; null before the end. */
function resultOf({ played: { stop, success, finishedTurns } }: PlayAnswer): SideResult | null {
  return stop === null ? null : { success, turns: finishedTurns.length };
}

interface ReaderProps {
  readonly game: PlayAnswer | null;
  readonly config: RunConfig;
  readonly won: boolean; // whether the reader won the round
}

/** The reader's board. Everything that the agent wouldn't know stays hidden until the end. */
function ReaderBoard({ game, config, won }: ReaderProps) {
  const box = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(box);
  const played = game?.played;
  const result = game && resultOf(game);
  const over = result !== null;
  const showsTask = played && (over || SHOWN_IN_PLAY.includes(played.view.kind));
  return (
    <section
      className="board contest-board"
      aria-label="You"
      data-side="before"
      data-solved={result?.success ?? false}
      data-glows={won}
    >
      <div className="line board-title">
        <h2>You</h2>
        <p className="line board-outcome gap-2 soft strong large">
          {result ? <Outcome {...result} /> : played && `turn ${played.finishedTurns.length + 1} of ${config.maxTurns}`}
        </p>
      </div>
      {showsTask && <p className="soft">{played.question}</p>}
      <ChoiceButtons game={game} />
      <div className="board-view" ref={box}>
        {showsTask ? (
          <Drawing
            view={played.view}
            turn={played.finishedTurns.length}
            group={[]}
            minRows={config.maxTurns}
            wide={width > WIDE_ASPECT * height}
            hideSolution={!over}
          />
        ) : (
          <p className="contest-question">{played?.question}</p>
        )}
      </div>
    </section>
  );
}

const ARROWS: Readonly<Record<string, string>> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
};

/** One button for each possible next choice: numbers, directions of a walk, or words to look up. */
function ChoiceButtons({ game }: { readonly game: PlayAnswer | null }) {
  const choices = game ? choicesOf(game) : [];
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const chosen = choices.find(({ word }) => word === ARROWS[event.key]);
      if (!chosen || document.querySelector('dialog[open]')) return;
      event.preventDefault();
      writeWord(chosen.id);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
  const numbers = choices.length > 0 && choices.every(({ word }) => /^\d+$/.test(word));
  return (
    <div
      className="contest-pad flex wrap gap-3 centred"
      translate="no"
      role="group"
      aria-label="Your next choice"
      data-numbers={numbers}
    >
      {choices.map(({ id, word }) => (
        <button key={id} type="button" onClick={() => writeWord(id)}>
          {word}
        </button>
      ))}
    </div>
  );
}

interface ContestState {
  readonly round: number; // from 1; 0 before the first
  readonly agent: Play | null; // the agent's play of the task; null until the reader has finished
  readonly won: { readonly reader: number; readonly agent: number };
  readonly draws: number; // rounds that nobody won
}

const useContest = create<ContestState>()(() => ({ round: 0, agent: null, won: { reader: 0, agent: 0 }, draws: 0 }));

/** The winner of a round: the one who solved it, or if both did, the one who took fewer turns; null for a draw. */
export function winner(reader: SideResult, agent: SideResult): 'reader' | 'agent' | null {
  const turns = ({ success, turns: count }: SideResult) => (success ? count : Infinity);
  if (turns(reader) === turns(agent)) return null;
  return turns(reader) < turns(agent) ? 'reader' : 'agent';
}

/** The words that can be written next. Empty if there is only one, because the page writes a single word itself. */
function choicesOf({ vocabulary, played }: PlayAnswer): readonly { readonly id: number; readonly word: string }[] {
  if (played.stop !== null || played.legal.length < 2) return [];
  return played.legal.map((id) => ({ id, word: played.names.get(id) ?? vocabulary[id] ?? '' }));
}

let unsubscribe: (() => void) | null = null;

function beginContest(recording: Recording, config: RunConfig, isOwn: boolean): void {
  useContest.setState({ round: 0, won: { reader: 0, agent: 0 }, draws: 0 });
  nextRound(recording, config, isOwn);
}

/** Starts a round with another task. The agent comes from the reader's run if `isOwn`, otherwise from the recording. */
function nextRound(recording: Recording, config: RunConfig, isOwn: boolean): void {
  endContest();
  const notFollowed = otherSeeds(recording);
  const seeds = notFollowed.length > 0 ? notFollowed : followedSeeds(recording);
  const { round } = useContest.getState();
  const seed = seeds[round % seeds.length];
  if (seed === undefined) return;
  useContest.setState({ round: round + 1, agent: null });
  unsubscribe = useGame.subscribe(({ playAnswer, tokens }, before) => {
    if (!playAnswer || playAnswer === before.playAnswer || playAnswer.tokens !== tokens) return;
    const [word, secondWord] = playAnswer.played.legal;
    if (playAnswer.played.stop !== null) void finishRound(playAnswer, recording, config, seed, isOwn);
    else if (word !== undefined && secondWord === undefined) writeWord(word);
  });
  playTask({ config, seed, environmentSeed: seed, agent: null });
}

function endContest(): void {
  unsubscribe?.();
  unsubscribe = null;
}

async function finishRound(game: PlayAnswer, recording: Recording, config: RunConfig, seed: number, isOwn: boolean) {
  endContest();
  const { round } = useContest.getState();
  const agent = isOwn ? await ownPlay(seed, config) : recordedPlay(recording, seed);
  if (!agent || useContest.getState().round !== round) return;
  const { success, finishedTurns } = game.played;
  const roundWinner = winner({ success, turns: finishedTurns.length }, agent.episode);
  useContest.setState(({ won, draws }) => ({
    agent,
    won: roundWinner ? { ...won, [roundWinner]: won[roundWinner] + 1 } : won,
    draws: roundWinner ? draws : draws + 1,
  }));
}

function recordedPlay({ plays, vocabulary }: Recording, seed: number): Play | null {
  const last = plays.at(-1);
  return last ? playOf(last.batch, vocabulary, seed, last.update) : null;
}

async function ownPlay(seed: number, config: RunConfig): Promise<Play | null> {
  const result = reply(await question(playQuestion(seed, config)), 'talk');
  return result.ok ? playOf(result.answer.batch, result.answer.vocabulary, seed, 0) : null;
}
