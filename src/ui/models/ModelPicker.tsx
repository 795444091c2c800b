import { type ReactNode, useRef } from 'react';
import { openPicked } from '../../page/models/openModel.ts';
import { cancel, type ModelRefusal, useModels } from '../../page/models/modelStore.ts';

export function ModelPicker({ children }: { readonly children: ReactNode }) {
  return (
    <section className="drop-here" aria-labelledby="models-drop">
      <h3 id="models-drop">Drop a language model here</h3>
      <p className="soft">
        A GGUF file (a whole model in one file, as for llama.cpp), or a checkpoint folder (config.json, tokenizer.json,
        safetensors). Architectures: Llama (such as SmolLM2-135M-Instruct or Monad), Qwen2 (Qwen2.5-0.5B-Instruct) and
        Qwen3 (Qwen3-0.6B).
      </p>
      <PickerButtons />
      <p className="soft">
        Nothing leaves this tab. Before a model loads, you’ll see its size and how much memory it needs.
      </p>
      {children}
    </section>
  );
}

/** Only the buttons to choose a checkpoint, shown once a model is open. */
export function SmallModelPicker() {
  return (
    <div className="row">
      <PickerButtons small />
    </div>
  );
}

function PickerButtons({ small = false }: { readonly small?: boolean }) {
  const file = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const size = small ? 'small' : '';
  return (
    <div className="row">
      <button type="button" className={small ? size : 'primary'} onClick={() => file.current?.click()}>
        {small ? 'Another file…' : 'Choose a file…'}
      </button>
      <button type="button" className={size} onClick={() => folder.current?.click()}>
        {small ? 'Another folder…' : 'Choose a folder…'}
      </button>
      <input
        {...{ ref: file, type: 'file', hidden: true, multiple: true }}
        aria-label="A checkpoint’s files"
        accept=".gguf,.safetensors,.json,.jinja,.md"
        onChange={({ target }) => openPicked(target.files)}
      />
      <input
        {...{ ref: folder, type: 'file', hidden: true, webkitdirectory: '' }}
        aria-label="A checkpoint’s folder"
        onChange={({ target }) => openPicked(target.files)}
      />
    </div>
  );
}

export function OpeningMessages() {
  const looking = useModels((s) => s.readingName);
  const refused = useModels((s) => s.refusal);
  const problem = useModels((s) => s.problem);
  const overdue = useModels((s) => s.overdue);
  return (
    <div aria-live="polite" className="stack">
      {(looking !== null || overdue) && (
        <div className="row">
          <p className="soft">
            {looking ? `Reading the headers of ${looking} …` : 'The model hasn’t answered for some seconds.'}
          </p>
          <button type="button" className="small" onClick={cancel}>
            Cancel
          </button>
        </div>
      )}
      {refused && (
        <div className="note bad" role="alert">
          <p>
            <b>{doReasonsNameFile(refused) ? 'This file' : refused.name} can’t be opened.</b> Nothing has changed.
          </p>
          <ul className="small">
            {refused.reasons.map((reason) => (
              <li key={reason}>{reason}</li>
            ))}
          </ul>
        </div>
      )}
      {problem && (
        <p className="note bad" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

const doReasonsNameFile = ({ name, reasons }: ModelRefusal) => reasons.some((reason) => reason.startsWith(name));
