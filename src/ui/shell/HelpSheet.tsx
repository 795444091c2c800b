import { setSingleKeys, useSelection } from '../../page/view/selectionStore.ts';
import { PLACE_LIST, SCREENS, type Screen } from '../../page/address/screens.ts';
import { Dialog } from '../parts/Dialog.tsx';
import { usesTouch } from '../../page/browser/breakpoints.ts';

/** One row for each place whose views have keys: the keys, and what they open. */
const PLACE_KEYS = PLACE_LIST.flatMap(({ label, views }): [keys: string, does: string][] => {
  const keyed = views.map((view): Screen => SCREENS[view]).filter(({ key }) => key);
  if (keyed.length === 0) return [];
  const names = keyed.map((view) => view.label.toLowerCase()).join(', ');
  return [[keyed.map(({ key }) => key?.toUpperCase()).join(' '), views.length > 1 ? `${label}: ${names}` : label]];
});
const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ['Space', 'run, pause'],
  ['. ,', 'one step forwards, back: a token, a turn or an update'],
  ['>', 'step one update'],
  ['[ ]', 'previous, next update whose rollouts are stored (not all are)'],
  ...PLACE_KEYS,
  ['J K', 'next, previous rollout'],
  ['N B', 'next, previous turn of the rollout'],
  ['← →', 'in the rollout: previous, next token'],
  ['Home End', 'in the rollout: first, last token'],
  ['← → + −', 'in the curves: move the crosshair, zoom'],
  ['< > Esc', 'in zoomed curves: earlier, later updates, all of them'],
  ['1 … 9', 'what a token’s colour shows: mask, advantage, push …'],
  ['A B S', 'when you choose between two rollouts: A is better, B is better, skip'],
  ['M', 'hold: shows the pushes as if both masks were off (or on, if they are off)'],
  ['P', 'play the task yourself'],
  ['X', 'fork the run: one copy as it is, one with a knob changed'],
  ['T', 'the tour'],
  ['Ctrl Z', 'undo a change of knobs'],
  ['Esc', 'deselect the token'],
  ['C', 'choose what to train'],
  ['S', 'share: the link to what you see'],
  ['?', 'this sheet'],
];

const TOUCHES: readonly (readonly [place: string, does: string])[] = [
  ['A word of the rollout', 'what the update made of it'],
  ['A reward above it', 'another rollout of the task'],
  ['The ƒ of a knob', 'lights the terms that it acts on, and their tokens'],
  ['The ? of a knob', 'what it does'],
  ['The task’s name', 'choose what to train'],
  ['Two fingers in a curve', 'zoom, move; one reads its values'],
  ['The bar below', 'the five places of the page; the views of each are under the header'],
];

/** The help dialog: the keys. On a touch screen: what touching does, with the keys folded. */
export function HelpSheet() {
  const singleKeys = useSelection((s) => s.singleKeys);
  const close = () => useSelection.setState({ help: false });
  const isTouch = usesTouch();
  const keys = (
    <>
      <dl>
        {KEYS.map(([names, does]) => (
          <div key={names}>
            <dt>
              {names.split(' ').map((key) => (
                <kbd translate="no" key={key}>
                  {key}
                </kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <label>
        <input type="checkbox" checked={singleKeys} onChange={(event) => setSingleKeys(event.target.checked)} />
        Single-key shortcuts. When off, only Esc, Ctrl Z and the keys inside a list or a dialog work.
      </label>
    </>
  );
  return (
    <Dialog title={isTouch ? 'What a finger does' : 'Keys'} className="help" onClose={close}>
      {isTouch ? (
        <>
          <dl>
            {TOUCHES.map(([place, does]) => (
              <div key={place}>
                <dt>{place}</dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
          <details className="deeper">
            <summary>Keys of a keyboard</summary>
            {keys}
          </details>
        </>
      ) : (
        keys
      )}
      <div className="row between">
        <button type="button" onClick={() => useSelection.setState({ help: false, sharing: true })}>
          Share this page…
        </button>
      </div>
      <p className="faint">
        An advantage above 0 means: better than expected. A push above 0 (▲) raises a token’s probability. Hatched
        tokens are not in the loss.
      </p>
      <p className="faint">
        The page contains programs of others: <a href="./licences.txt">their licences</a>.
      </p>
    </Dialog>
  );
}
