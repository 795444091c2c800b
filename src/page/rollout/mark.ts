/** How a term affects a token: not at all (`none`), it does (`touched`), or the token is clipped because its ratio rose or fell. */
export const TokenMark = { none: 0, touched: 1, clippedHigh: 2, clippedLow: 3 } as const;
