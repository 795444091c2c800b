/** The label, unit and meaning of a reported number. */
export interface Metric {
  readonly label: string;
  readonly unit: string; // '' for a plain number
  readonly doc: string; // its meaning, as a formula if possible
  readonly headline?: true; // its curve is shown by default
  readonly once?: true; // measured only once, as a number to compare with; it has no curve
}
