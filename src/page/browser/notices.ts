import { create } from 'zustand';

/** Messages shown on every screen until dismissed, mostly that something stored in this browser could not be read. */
export const useNotices = create<{ readonly sentences: readonly string[] }>()(() => ({ sentences: [] }));

/** Shows a message, unless it is shown already. */
export function notice(sentence: string): void {
  useNotices.setState(({ sentences }) =>
    sentences.includes(sentence) ? { sentences } : { sentences: [...sentences, sentence] },
  );
}

export function dismissNotices(): void {
  useNotices.setState({ sentences: [] });
}
