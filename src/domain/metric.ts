/** The label, unit and meaning of a reported number. */
export interface Metric {
  readonly label: string;
  readonly unit: string; // '' is a plain number
  readonly doc: string; // its meaning, as a formula if possible
  readonly headline?: true; // drawn by default
  readonly once?: true; // a number to compare with, no curve
}
