/** Training computes with float32, whose largest number is about 3e38, and squares rewards, so the limit is far below that. */
export const MAX_REWARD = 1e6;
