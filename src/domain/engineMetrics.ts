/** The label, unit and meaning of a reported number. */
export interface Metric {
  readonly label: string;
  readonly unit: string; // '' for a plain number
  readonly doc: string; // its meaning, as a formula if possible
  readonly headline?: true; // its curve is shown by default
  readonly once?: true; // measured only once, as a number to compare with; it has no curve
}

type MetricRow = Omit<Metric, 'unit'> & Partial<Pick<Metric, 'unit'>>;

/** A table of metrics, in which a plain number needs no unit. */
export function withUnits<Name extends string>(
  rows: Readonly<Record<Name, MetricRow>>,
): Readonly<Record<Name, Metric>> {
  const filled = Object.entries<MetricRow>(rows).map(([name, row]) => [name, { unit: '', ...row }]);
  return Object.fromEntries(filled) as Record<Name, Metric>;
}

/** Metrics of the cost of an update: kernel launches, copies and seconds. */
export const ENGINE_METRICS = withUnits({
  'engine/dispatches': { label: 'Dispatches', doc: 'Kernel launches of this update (0 on the CPU).' },
  'engine/submits': { label: 'Submits', doc: 'Command buffers handed to the queue in this update.' },
  'engine/readbacks': {
    label: 'Read-backs',
    doc: 'Awaited GPU → CPU copies of this update, keeping the weights it begins from among them.',
  },
  'engine/upload_bytes': { label: 'Uploaded', unit: 'bytes', doc: 'CPU → GPU bytes of this update.' },
  'engine/creations': {
    label: 'Creations',
    doc: 'Buffers, bind groups and pipelines made in this update; 0 after the first.',
  },
  'engine/tokens_per_second': {
    label: 'Tokens',
    unit: 'tokens/s',
    doc: 'Tokens of the batch / seconds of the whole update.',
  },
  'engine/computed_tokens': {
    label: 'Tokens computed in learning',
    unit: 'tokens',
    doc: 'Tokens that the optimizer steps of this update ran through the network. A beginning that several rollouts share, such as a prompt, runs once and counts once.',
  },
  'engine/trained_tokens': {
    label: 'Tokens trained on',
    unit: 'tokens',
    doc: 'Tokens of the rollouts in the optimizer steps of this update, each rollout from its first token to its last trained one. Divided by the tokens computed, it says how much work sharing saved.',
  },
  'time/rollout': { label: 'Rollout', unit: 's', doc: 'Sampling and environment.' },
  'time/environment': {
    label: 'Environment',
    unit: 's',
    doc: 'Part of the rollout: beginning its episodes and answering its turns.',
  },
  'time/learn': { label: 'Learning', unit: 's', doc: 'Scores, credit and optimizer steps.' },
  'time/update': { label: 'Update', unit: 's', doc: 'The whole update without evaluation.' },
});
