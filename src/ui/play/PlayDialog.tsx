import { useEffect, useRef, type KeyboardEvent, type SubmitEvent, useState, type MouseEvent, useMemo } from 'react';
import { actsIn, YOUR_ENVIRONMENT } from '../../config/environments.ts';
import type { RunConfig } from '../../config/fields.ts';
import { counted, shortNumber, percent, rewardNumber, signedNumber } from '../../page/words/numberText.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { Dialog } from '../parts/Dialog.tsx';
import { Icon } from '../parts/Icon.tsx';
import { useSelection } from '../../page/view/selectionStore.ts';
import {
  canPlaySelected,
  playAgain,
  playNew,
  playSelected,
  type PlayAnswer,
  useGame,
  writeTurn,
  removeLastWord,
  writeWord,
  type AgentRecord,
} from '../../page/training/game.ts';
import { callTemplate } from '../../page/rollout/callTemplate.ts';
import { STOP_TEXTS } from '../../page/rollout/kinds.ts';
import { Drawing, LEGENDS } from '../drawings/Drawing.tsx';
import { RewardSplit } from '../parts/RewardSplit.tsx';
import { REWARD_PARTS, type RewardPart } from '../../domain/episode.ts';
import type { PlayedEpisode } from '../../domain/playedTask.ts';
import { readTokens, textOf } from '../../page/rollout/readRollout.ts';
import { RewardChip } from '../parts/RewardChip.tsx';
import { PART_LABELS, partsOfEpisode } from '../../page/rollout/rewardParts.ts';
import { trainedLook } from '../../page/rollout/trainedLook.ts';
import { type TokenAnnotations, TokenView } from '../tokens/TokenView.tsx';
import './play.css';

/** The dialog in which the reader plays a task in the agent's place: with the same words, rules and reward. */
export function PlayDialog() {
  const episode = useRef<HTMLDivElement>(null);
  const endMark = useRef<HTMLDivElement>(null);
  const { config, playAnswer, problem, agent, tokens } = useGame();
  useEffect(() => {
    if (useGame.getState().config) return;
    if (canPlaySelected()) playSelected();
    else playNew();
  }, []);
  useEffect(() => {
    endMark.current?.scrollIntoView({ block: 'nearest' });
    // the word buttons are gone, and the focus would be lost with them
    if (playAnswer && playAnswer.played.stop !== null) episode.current?.focus();
  }, [playAnswer]);
  const close = () => useSelection.setState({ playing: false });
  return (
    <Dialog title="Play it yourself" className="play wide" onClose={close} headExtra={<Score />}>
      <TaskButtons />
      <div className="card play-scroll fill scrolls" role="region" aria-label="Episode" ref={episode} tabIndex={0}>
        {playAnswer && config && (
          <>
            <p className="strong">{playAnswer.played.question}</p>
            <Transcript played={playAnswer.played} vocabulary={playAnswer.vocabulary} config={config} />
            <Ending table={playAnswer} agent={agent} />
          </>
        )}
        <div ref={endMark} />
      </div>
      {problem && (
        <p className="note bad" role="alert">
          {problem}
        </p>
      )}
      {playAnswer?.played.stop === null && <InputPad table={playAnswer} />}
      <p className="visually-hidden" role="status">
        {playAnswer && announcement(playAnswer.played.finishedTurns.length, tokens.length)}
      </p>
    </Dialog>
  );
}

function InputPad({ table }: { readonly table: PlayAnswer }) {
  if (table.tools === null) return <WordPad table={table} />;
  const { length } = table.played.finishedTurns; // a new key after each turn empties the field
  return <TurnPad key={length} tools={table.tools} budget={table.played.budget} />;
}

function Score() {
  const { config, playAnswer } = useGame();
  if (!playAnswer || !config) return null;
  const { played } = playAnswer;
  return (
    <span className="end play-score faint" data-testid="play-score">
      {taskName(config, playAnswer)} ·{' '}
      {played.stop === null && `turn ${played.finishedTurns.length + 1}${turnsOf(config)} · `}
      reward {rewardNumber(played.reward)}
    </span>
  );
}

function TaskButtons() {
  useLive((s) => s.batch);
  const hasGame = useGame((s) => s.config !== null);
  return (
    <div className="row">
      <button type="button" onClick={playNew}>
        <Icon name="dice" /> New task
      </button>
      <button type="button" disabled={!hasGame} onClick={playAgain}>
        <Icon name="restart" /> Same task again
      </button>
      <button
        type="button"
        disabled={!canPlaySelected()}
        onClick={playSelected}
        title="The task of the rollout in view"
      >
        <Icon name="watch" /> The agent’s task
      </button>
    </div>
  );
}

/** The environment's name. For a person's own environment: the name of its class. */
function taskName({ env }: RunConfig, { played: { view } }: PlayAnswer): string {
  return view.kind === 'calls' ? view.title : env;
}

/** The largest number of turns, as text. Empty for a person's own environment, whose class sets it. */
function turnsOf({ env, maxTurns }: RunConfig): string {
  if (env === YOUR_ENVIRONMENT) return '';
  return ` of ${actsIn('maxTurns', env) ? maxTurns : 1}`;
}

function announcement(turns: number, words: number): string {
  return words === 0 ? 'A new episode begins.' : turns > 0 ? `${counted(turns, 'turn')} taken.` : '';
}

interface TurnPadProps {
  readonly tools: readonly string[];
  readonly budget: number; // tokens that the turn may have
}

/** A field to type a turn: a call as JSON, or an answer in words. */
function TurnPad({ tools, budget }: TurnPadProps) {
  const [typed, setTyped] = useState('');
  const input = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // on a touch screen, the focus would open a keyboard over the episode
    if (matchMedia('(pointer: fine)').matches) input.current?.focus();
  }, []);
  const empty = typed.trim() === '';
  const submit = () => {
    if (!empty) writeTurn(typed);
  };
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    submit();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };
  return (
    <form className="turn-pad" aria-label="Your turn" noValidate onSubmit={onSubmit}>
      <textarea
        ref={input}
        rows={3}
        aria-label="Next turn"
        aria-describedby="turn-hint"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        placeholder={callTemplate(tools)}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        onKeyDown={onKey}
      />
      <div className="row">
        <button type="submit" className="primary" disabled={empty}>
          <Icon name="play" /> Take the turn
        </button>
        <p id="turn-hint" className="small faint">
          Type a call as JSON, as the prompt shows it, or the answer in words; at most {budget} tokens. Enter takes the
          turn.
        </p>
      </div>
    </form>
  );
}

/** Number of word buttons shown at once. The other words of a large vocabulary have to be typed. */
const MAX_BUTTONS = 160;

interface Word {
  readonly id: number;
  readonly text: string;
}

function WordPad({ table }: { readonly table: PlayAnswer }) {
  const { vocabulary, played } = table;
  const [typed, setTyped] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const words = played.legal.map((id): Word => ({ id, text: played.names.get(id) ?? vocabulary[id] ?? '' }));
  const matches = words.filter(({ text }) => startsWithTyped(text, typed));
  // with nothing typed, a word is meant only if it has no alternative
  const matchedWord =
    typed === '' ? (words.length === 1 ? words[0] : undefined) : (exactMatch(words, typed) ?? matches[0]);
  useEffect(() => {
    // on a touch screen, the keyboard would cover the buttons
    if (matchMedia('(pointer: fine)').matches) input.current?.focus();
  }, []);
  const choose = (word: Word | undefined) => {
    if (!word) return;
    setTyped('');
    writeWord(word.id);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' || (event.key === ' ' && typed !== '')) choose(matchedWord);
    else if (event.key === 'Backspace' && typed === '') removeLastWord();
    else return;
    event.preventDefault();
  };
  const onClick = (event: MouseEvent, word: Word) => {
    choose(word);
    // the pressed button may be gone; after a press by keyboard, typing goes on in the input
    if (event.detail === 0) input.current?.focus();
  };
  return (
    <div className="word-pad">
      <div className="line word-line">
        <input
          ref={input}
          aria-label="Next word"
          aria-describedby="word-hint"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          placeholder="Type a word"
          value={typed}
          aria-invalid={typed !== '' && !matchedWord}
          onChange={(event) => setTyped(event.target.value.trimStart())}
          onKeyDown={onKey}
        />
        <button type="button" disabled={played.turnLength === 0} onClick={removeLastWord}>
          Take back
        </button>
      </div>
      <p id="word-hint" className="faint" role="status">
        {hint(typed, matchedWord, words.length)}
      </p>
      <Words {...{ matches, matchedWord, onClick }} />
    </div>
  );
}

interface WordsProps {
  readonly matches: readonly Word[];
  readonly matchedWord: Word | undefined;
  readonly onClick: (event: MouseEvent, word: Word) => void;
}

function Words({ matches, matchedWord, onClick }: WordsProps) {
  return (
    <div className="row words gap-2 scrolls" role="group" aria-label="Allowed next words">
      {matches.slice(0, MAX_BUTTONS).map((word) => (
        <button
          key={word.id}
          type="button"
          className="word-button"
          translate="no"
          data-meant={word === matchedWord}
          onClick={(event) => onClick(event, word)}
        >
          {word.text}
        </button>
      ))}
      {matches.length > MAX_BUTTONS && (
        <span className="faint">and {matches.length - MAX_BUTTONS} more: type to find them</span>
      )}
    </div>
  );
}

/** Whether a word begins with the typed text. A tag may be typed without its brackets. */
function startsWithTyped(text: string, typed: string): boolean {
  const wanted = typed.trim().toLowerCase();
  return [/^/, /^</, /^<\//].some((bracket) => text.toLowerCase().replace(bracket, '').startsWith(wanted));
}

function exactMatch(words: readonly Word[], typed: string): Word | undefined {
  return words.find(({ text }) => text === typed.trim());
}

function hint(typed: string, matchedWord: Word | undefined, legal: number): string {
  if (matchedWord) return `Press Enter to write ${matchedWord.text}. Backspace removes words of this turn.`;
  if (typed !== '') return `No allowed word begins with “${typed}”.`;
  return `${legal} words are allowed next. Type one and press Enter, or choose it.`;
}

interface EndingProps {
  readonly table: PlayAnswer;
  readonly agent: AgentRecord | null;
}

function Ending({ table: { vocabulary, played, expert }, agent }: EndingProps) {
  if (played.stop === null) return null;
  return (
    <section className="ending grid gap-5" aria-label="How it ended">
      <div className="ending-words">
        <h3 className="line large" data-success={played.success} role="status">
          <Icon name={played.success ? 'check' : 'cross'} />
          {played.success ? 'Solved' : 'Not solved'}: {STOP_TEXTS[played.stop]}, reward {rewardNumber(played.reward)}
        </h3>
        <RewardSplit episode={{ parts: totalParts(played), view: played.view }} />
        {expert && (
          <p>
            The scripted expert {expert.success ? 'solves it' : 'does not solve it either'}, reward{' '}
            {rewardNumber(expert.reward)}: <span className="mono ink-call">{callsText(expert, vocabulary)}</span>
          </p>
        )}
        {agent && (
          <p>
            The agent at update {agent.update} solved it in {agent.solved} of {agent.rollouts} tries (
            {percent(agent.solved / agent.rollouts)}), mean reward {shortNumber(agent.meanReward)}.
          </p>
        )}
      </div>
      <div className="ending-view">
        <Drawing view={played.view} turn={played.finishedTurns.length} group={[played.view]} />
        <p className="small faint">{LEGENDS[played.view.kind]}</p>
      </div>
    </section>
  );
}

function totalParts({ finishedTurns }: PlayedEpisode): Record<RewardPart, number> {
  const sum = (part: RewardPart) => finishedTurns.reduce((all, { parts }) => all + parts[part], 0);
  return Object.fromEntries(REWARD_PARTS.map((part) => [part, sum(part)])) as Record<RewardPart, number>;
}

function callsText(played: PlayedEpisode, vocabulary: readonly string[]): string {
  const rollout = readTokens(played, vocabulary);
  const { turns, tags } = rollout;
  return turns
    .filter(({ turn }) => turn > 0)
    .map(({ spans }) =>
      textOf(
        rollout,
        spans
          .filter(({ kind }) => kind === 'call' || kind === 'answer')
          .flatMap(({ tokens }) => tokens.filter((t) => !tags[t])),
      ),
    )
    .join(' → ');
}

interface Props {
  readonly played: PlayedEpisode;
  readonly vocabulary: readonly string[];
  readonly config: RunConfig;
}

function Transcript({ played, vocabulary, config }: Props) {
  const rollout = useMemo(() => readTokens(played, vocabulary), [played, vocabulary]);
  const looks = useMemo(() => {
    const look = trainedLook(rollout, config, played.bodies);
    return () => look;
  }, [rollout, config, played]);
  const annotations = useMemo(
    (): TokenAnnotations => ({
      heading: 'h3',
      showAll: true,
      below: ({ turn }) => <TurnReward played={played} turn={turn} />,
    }),
    [played],
  );
  const { turns, writing } = rollout;
  return <TokenView className="transcript" layout={writing} channel={null} {...{ turns, looks, annotations }} />;
}

function TurnReward({ played, turn }: { readonly played: PlayedEpisode; readonly turn: number }) {
  const turnReward = played.finishedTurns.find((entry) => entry.turn === turn);
  if (!turnReward) return null;
  const parts = partsOfEpisode(turnReward);
  if (parts.length === 0 && turnReward.valid) return null;
  return (
    <p className="row small paid">
      {!turnReward.valid && <span>malformed </span>}
      {parts.map(({ part, amount }) => (
        <RewardChip key={part} amount={amount}>
          {PART_LABELS[part]} {signedNumber(amount)}
        </RewardChip>
      ))}
    </p>
  );
}
