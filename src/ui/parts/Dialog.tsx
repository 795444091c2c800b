import { type KeyboardEventHandler, type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { Icon } from './Icon.tsx';

interface Props {
  readonly title: string;
  readonly className: string;
  readonly onClose: () => void;
  readonly onKeyDown?: KeyboardEventHandler;
  readonly headExtra?: ReactNode; // between the title and the close button
  readonly children: ReactNode;
}

/** A modal dialog. Keeps the focus until it is closed with its button or Esc. */
export function Dialog({ title, className, onClose, onKeyDown, headExtra, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // opening moves the focus to the close button, so it must come before a child's effect that takes the focus
  useLayoutEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} className={className} aria-labelledby={id} onClose={onClose} onKeyDown={onKeyDown}>
      <div className="panel-head">
        <h2 id={id}>{title}</h2>
        {headExtra}
        <button type="button" className="quiet icon-button small" aria-label="Close" onClick={onClose}>
          <Icon name="cross" />
        </button>
      </div>
      {children}
    </dialog>
  );
}
