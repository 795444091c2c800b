import { useEffect, useState } from 'react';
import { FIELDS } from '../../config/fields.ts';
import { type Engine, ENGINES, type MappedKnob } from '../../config/mappedKnob.ts';
import type { PackedRun } from '../../runs/packed.ts';
import { Dialog } from '../parts/Dialog.tsx';
import { convert } from '../../page/training/engine.ts';
import { download, fileName } from '../../page/browser/fileDownload.ts';
import './handover.css';

const ENGINE_WORDS: Readonly<
  Record<Engine, { readonly name: string; readonly needs: string; readonly files: string }>
> = {
  verl: {
    name: 'verl',
    needs: 'Trains on GPUs.',
    files: 'a run script with every setting, an agent loop for turns of words, the tool, a reward function',
  },
  trl: {
    name: 'TRL',
    needs: 'Trains on GPUs, or one CPU.',
    files: 'one program with the environment and GRPOTrainer, and its settings',
  },
};

interface Props {
  readonly run: PackedRun; // as it was when the dialog was opened
  readonly close: () => void;
}

/** Exports a run as a folder that continues its training with verl or TRL, and shows what becomes of each knob there. */
export function HandoverDialog({ run, close }: Props) {
  const [engine, setEngine] = useState<Engine>('verl');
  const [knobs, setKnobs] = useState<readonly MappedKnob[] | null>(null);
  const [refusal, setRefused] = useState('');
  const [message, setMessage] = useState('');
  useEffect(() => {
    void convert({ kind: 'handover', run, engine: null }).then((answer) => {
      if (answer.kind === 'handed') setKnobs(answer.knobs);
      else setRefused(answer.kind === 'refused' ? answer.message : answer.kind);
    });
  }, [run]);
  const save = async () => {
    setMessage('Writing …');
    const answer = await convert({ kind: 'handover', run, engine });
    if (answer.kind !== 'handed' || !answer.zip) {
      setMessage(`Not saved: ${answer.kind === 'refused' ? answer.message : answer.kind}`);
      return;
    }
    const name = fileName(`run ${run.id} for ${engine}`, 'zip');
    download(name, 'application/zip', new Blob([answer.zip], { type: 'application/zip' }));
    setMessage(`Saved as ${name}: unpack it, and read its README.`);
  };
  return (
    <Dialog title={`Run ${run.id} for a cluster`} className="help wide handover" onClose={close}>
      {refusal ? (
        <p className="note" role="alert">
          {refusal}
        </p>
      ) : (
        <>
          <p>
            A folder to continue this training elsewhere: the checkpoint with its tokenizer, the next training tasks and
            the evaluated tasks, and the environment in Python, which plays as it does here, word for word.
          </p>
          <div className="row">
            <div className="segments" role="group" aria-label="Engine">
              {ENGINES.map((each) => (
                <button key={each} type="button" aria-pressed={engine === each} onClick={() => setEngine(each)}>
                  {ENGINE_WORDS[each].name}
                </button>
              ))}
            </div>
            <button type="button" className="primary end" disabled={!knobs} onClick={() => void save()}>
              Download zip
            </button>
          </div>
          <p className="faint">
            {ENGINE_WORDS[engine].needs} It also has {ENGINE_WORDS[engine].files}, and a README with this table. There
            is no grammar mask there: malformed turns get a penalty instead.
          </p>
          <p role="status" className="small">
            {message}
          </p>
          {knobs && <KnobTable knobs={knobs} engine={engine} />}
        </>
      )}
    </Dialog>
  );
}

/** The engine's counterpart of each knob that has an effect in this run. */
function KnobTable({ knobs, engine }: { readonly knobs: readonly MappedKnob[]; readonly engine: Engine }) {
  // a scrolling region must be reachable with the keyboard
  return (
    <div className="handover-table" role="region" aria-label="Counterpart of each knob" tabIndex={0}>
      <table className="ruled small">
        <thead>
          <tr>
            <th scope="col">Knob</th>
            <th scope="col">Here</th>
            <th scope="col">{ENGINE_WORDS[engine].name}</th>
          </tr>
        </thead>
        <tbody>
          {knobs.map(({ knob, value, [engine]: text }) => (
            <tr key={knob}>
              <th scope="row">{FIELDS[knob].label}</th>
              <td>{value}</td>
              <td className={text.startsWith('no counterpart') ? 'faint' : ''}>{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
