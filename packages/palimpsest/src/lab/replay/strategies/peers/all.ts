import type { Strategy } from '../strategy.ts'
import { classic } from './classic.ts'
import { cline } from './cline.ts'
import { codex } from './codex.ts'
import { geminiCli } from './gemini-cli.ts'
import { langchain } from './langchain.ts'
import { opencode } from './opencode.ts'
import { pi } from './pi.ts'
import { qwenCode } from './qwen-code.ts'
import { serverClear } from './server-clear.ts'

/** Strategies of other tools, each with a page in docs/peers. */
export const PEERS: readonly Strategy[] = [
  opencode,
  geminiCli,
  codex,
  pi,
  cline,
  qwenCode,
  langchain,
  classic,
  serverClear,
]
