import { checksumOf } from '../base/checksum.ts';

/** The file of an environment that a person wrote. It is a program, so a saved run never starts it by itself: the user has to name the file again. */
export interface EnvironmentFile {
  readonly name: string; // without the folder that it lies in
  readonly text: string;
}

/** Equal for two files iff their texts are equal. */
export function environmentSum({ text }: EnvironmentFile): string {
  return checksumOf(text);
}
