import type { ReactNode } from 'react';

interface Props {
  readonly amount: number;
  readonly title?: string;
  readonly children: ReactNode; // the amount in words
}

/** A reward as a chip. A penalty has the colour of downward pushes. */
export function RewardChip({ amount, title, children }: Props) {
  return (
    <span className="chip reward" data-taken={amount < 0} title={title}>
      {children}
    </span>
  );
}
