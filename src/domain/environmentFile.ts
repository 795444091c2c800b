import { checksumOf } from '../base/checksum.ts';

/** The file of an environment that a person wrote. It is a program: whoever opens a run says before it is run again. */
export interface EnvironmentFile {
  readonly name: string; // without the folder that it lies in
  readonly text: string;
}

/** Equal for two files iff their texts are equal. */
export function environmentSum({ text }: EnvironmentFile): string {
  return checksumOf(text);
}
