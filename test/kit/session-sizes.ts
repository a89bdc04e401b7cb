// How large the parts of real sessions are: 16 recorded ones of four agents, 2,854 answers, 3,249 tool results, 255 messages of users.
// Tokens are the simulator's count for a Claude 5 model. Each list has the values at these shares of all cases, smallest first.

export const SHARES = [0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1] as const

export type Quantiles = readonly [
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
]

export interface ToolSizes {
  /** How many of 1,000 calls are its. */
  readonly permille: number
  readonly input: Quantiles
  readonly result: Quantiles
  /** How many of 1,000 results are errors. */
  readonly errorPermille: number
}

/** What the agents call by other names goes under these; `TodoWrite` stands for every tool whose results may not be cleared. */
export const TOOL_SIZES = {
  Bash: {
    permille: 483,
    input: [13, 35, 41, 57, 75, 103, 142, 211, 582, 1_873],
    result: [0, 6, 26, 75, 328, 1_415, 3_863, 6_097, 16_383, 24_964],
    errorPermille: 28,
  },
  Read: {
    permille: 209,
    input: [14, 35, 40, 49, 62, 66, 73, 77, 79, 84],
    result: [26, 238, 343, 593, 1_089, 1_924, 5_342, 10_873, 20_062, 33_955],
    errorPermille: 7,
  },
  Edit: {
    permille: 151,
    input: [59, 115, 150, 229, 443, 838, 1_574, 2_717, 5_850, 16_270],
    result: [17, 29, 39, 51, 58, 64, 92, 424, 793, 1_832],
    errorPermille: 22,
  },
  Grep: {
    permille: 93,
    input: [28, 51, 55, 67, 77, 85, 93, 99, 106, 114],
    result: [5, 5, 7, 28, 224, 902, 2_071, 3_032, 6_430, 7_749],
    errorPermille: 10,
  },
  TodoWrite: {
    permille: 45,
    input: [3, 20, 20, 22, 77, 226, 514, 901, 3_276, 4_460],
    result: [4, 4, 9, 9, 25, 194, 1_547, 2_385, 4_249, 7_462],
    errorPermille: 47,
  },
  Write: {
    permille: 10,
    input: [119, 140, 637, 1_658, 3_907, 5_106, 7_632, 22_829, 31_378, 31_378],
    result: [35, 35, 44, 47, 50, 54, 59, 2_060, 4_403, 4_403],
    errorPermille: 0,
  },
  Glob: {
    permille: 9,
    input: [17, 18, 18, 27, 34, 44, 46, 47, 51, 51],
    result: [5, 5, 5, 19, 95, 1_063, 1_432, 1_502, 1_502, 1_502],
    errorPermille: 107,
  },
} as const satisfies { readonly [tool: string]: ToolSizes }

export type ScriptedTool = keyof typeof TOOL_SIZES

/** How many of 1,000 reads ask for what was read before, word for word. */
export const REPEATED_READ_PERMILLE = 72

/** Of 1,000 answers with calls, so many have 1, 2, 3, … of them. */
export const CALLS_PERMILLE = [886, 51, 29, 21, 5, 5, 1, 1, 1] as const

/** How many of 1,000 answers think, and how many with calls say something too. */
export const THINKING_PERMILLE = 497
export const SAID_PERMILLE = 462

export const THINKING_TOKENS: Quantiles = [5, 13, 14, 28, 57, 202, 526, 794, 1_549, 5_486]
/** Words beside a call, and of an answer that ends a turn. */
export const SAID_TOKENS: Quantiles = [5, 13, 17, 24, 36, 64, 100, 142, 387, 805]
export const FINAL_TOKENS: Quantiles = [3, 32, 60, 152, 372, 591, 821, 1_146, 3_358, 5_860]
export const USER_TOKENS: Quantiles = [3, 5, 10, 16, 36, 80, 156, 399, 3_266, 43_883]

/** Answers of one turn. */
export const ROUNDS: Quantiles = [1, 1, 1, 1, 5, 12, 33, 50, 112, 134]
/** Seconds from an answer to the next, inside a turn. The longest was nine hours; what counts is that 3 of 1,000 outlast five minutes. */
export const ROUND_SECONDS: Quantiles = [0, 3, 3, 4, 6, 10, 18, 34, 153, 490]
/** Seconds from the end of a turn to the user's next message. */
export const PAUSE_SECONDS: Quantiles = [0, 3, 9, 26, 81, 193, 449, 1_178, 6_683, 44_118]
