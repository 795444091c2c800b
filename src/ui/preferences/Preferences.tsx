import { useState, type KeyboardEvent } from 'react';
import { useConfig } from '../knobs/configStore.ts';
import { prefer } from '../run/engine.ts';
import { short } from '../parts/numberText.ts';
import { live, useLive } from '../run/liveStore.ts';
import { attemptOf, pairOf, type Pair } from './pairs.ts';
import { useSelection } from '../shell/selectionStore.ts';
import { AttemptCard } from './AttemptCard.tsx';
import { Dialog } from '../parts/Dialog.tsx';
import { PreferenceNumbers } from './PreferenceNumbers.tsx';
import '../styles/preferences.css';

/** Two rollouts of one prompt, a person's choice between them, and what the reward model made of such choices. */
export function Preferences() {
  const [turn, setTurn] = useState(0);
  const [said, setSaid] = useState('');
  // drawn once for each turn: what is being read must not change under the reader
  const [pair, setPair] = useState<Pair | null>(() => pairOf(live.batch, 0));
  const ready = useConfig((s) => s.applied?.rewardModel === 'on') && !live.isExample;
  const close = () => useSelection.setState({ preferring: false });
  const next = (words: string) => {
    setSaid(words);
    setTurn(turn + 1);
    setPair(pairOf(live.batch, turn + 1));
  };
  const choose = (side: 'A' | 'B') => {
    if (!pair || !ready) return;
    const [better, worse] = side === 'A' ? [pair.a, pair.b] : [pair.b, pair.a];
    prefer(attemptOf(pair.batch, better.row), attemptOf(pair.batch, worse.row));
    next(`Saved: ${side} is better. ${scoreWords(pair)}`.trim());
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.toLowerCase();
    if (key === 'a' || key === 'b') choose(key === 'a' ? 'A' : 'B');
    else if (key === 's' && ready) next('Skipped.');
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Which rollout is better?" className="preferences wide" onClose={close} onKeyDown={onKey}>
      <Both pair={pair} />
      <div className="row pair-actions">
        <button type="button" disabled={!ready || !pair} onClick={() => choose('A')}>
          A is better <kbd>A</kbd>
        </button>
        <button type="button" disabled={!ready || !pair} onClick={() => choose('B')}>
          B is better <kbd>B</kbd>
        </button>
        <button type="button" className="quiet" disabled={!ready} onClick={() => next('Skipped.')}>
          Skip <kbd>S</kbd>
        </button>
        <span className="faint" role="status">
          {said}
        </span>
      </div>
      {!ready && <NotReady />}
      <PreferenceNumbers />
    </Dialog>
  );
}

function Both({ pair }: { readonly pair: Pair | null }) {
  if (!pair) return <p className="empty">All rollouts of each prompt are identical: nothing to compare.</p>;
  return (
    <>
      <p className="strong">
        {live.isExample && <span className="chip example">recording</span>} {pair.a.question}
      </p>
      <div className="pair">
        <AttemptCard side="A" pair={pair} episode={pair.a} />
        <AttemptCard side="B" pair={pair} episode={pair.b} />
      </div>
    </>
  );
}

/** What the reward model had thought of the two, once the choice is made. */
function scoreWords({ a, b }: Pair): string {
  if (a.preferenceScore === null || b.preferenceScore === null) return '';
  return `The reward model scored A ${short(a.preferenceScore)} and B ${short(b.preferenceScore)}.`;
}

function NotReady() {
  const wanted = useConfig((s) => s.wanted.rewardModel === 'on');
  const started = useLive((s) => s.session === 'ready');
  return (
    <p className="note">
      {!wanted
        ? 'There is no reward model. Turn it on under Rewards, or choose the RLHF preset, then run.'
        : started
          ? 'Restart the run to add the reward model. You can compare rollouts after its first update.'
          : 'Run training first: these rollouts are a recording.'}
    </p>
  );
}
