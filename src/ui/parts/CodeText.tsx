import { Fragment } from 'react';

/** The parts of a message in which code stands between backticks: text and code in turns, text first. */
export function codeParts(message: string): readonly string[] {
  return message.split(/`([^`\n]+)`/);
}

export function CodeText({ children }: { readonly children: string }) {
  return codeParts(children).map((part, i) =>
    i % 2 === 1 ? (
      <code key={i} translate="no">
        {part}
      </code>
    ) : (
      <Fragment key={i}>{part}</Fragment>
    ),
  );
}
