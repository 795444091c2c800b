/** A number with what it counts: `1 turn`, `2 turns`. */
export const counted = (n: number, one: string, several = `${one}s`): string => `${n} ${n === 1 ? one : several}`;
