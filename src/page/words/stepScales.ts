/**
 * How far one step goes. `token`, `turn` and `rollout` move within the batch in view, `batch` between kept batches.
 * `batch` past the newest one, `optimizer` and `update` train.
 */
export const STEP_SCALES = {
  token: { label: 'token', doc: 'Shows the rollout one token further.' },
  turn: { label: 'turn', doc: 'Shows the rollout one turn further.' },
  rollout: { label: 'rollout', doc: 'Shows the next rollout of the batch.' },
  batch: { label: 'batch', doc: 'Shows the next kept batch; after the newest, trains one.' },
  optimizer: { label: 'optimizer step', doc: 'Trains until the weights have changed once.' },
  update: { label: 'update', doc: 'Trains one update: a batch and all its optimizer steps.' },
} as const satisfies Record<string, { readonly label: string; readonly doc: string }>;
export type StepScale = keyof typeof STEP_SCALES;
