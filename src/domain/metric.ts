/** What a reported number is called, in what it is counted, and what it is. */
export interface Metric {
  readonly label: string;
  readonly unit: string; // '' is a plain number
  readonly doc: string; // what it is, as a formula where there is one
  readonly headline?: true; // drawn by default
  readonly once?: true; // a number to compare with, no curve
}
