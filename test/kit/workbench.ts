import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type {
  LoopTool,
  Permit,
  ToolContext,
  ToolOutput,
  Verdict,
} from '../../packages/palimpsest/src/loop/tool.ts'
import type { Entry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { emptyView, step, type View } from '../../packages/palimpsest/src/transcript/view.ts'
import type { JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import type { WireMessage } from '../../packages/palimpsest/src/wire/message.ts'
import { createAccess, type Access } from '../../packages/palimpsest-cli/src/agent/paths/access.ts'
import {
  createPermit,
  type PermissionAnswer,
  type PermissionQuestion,
} from '../../packages/palimpsest-cli/src/agent/permissions/create-permit.ts'
import type { PermissionMode } from '../../packages/palimpsest-cli/src/agent/permissions/permission-mode.ts'
import { parseRule, type RuleEffect } from '../../packages/palimpsest-cli/src/agent/permissions/rule.ts'
import {
  commandEnvironment,
  readingEnvironment,
  withVariables,
  type ChildEnvironment,
} from '../../packages/palimpsest-cli/src/agent/process/child-environment.ts'
import { gitEnvironment } from '../../packages/palimpsest-cli/src/agent/process/git-environment.ts'
import { createSandbox } from '../../packages/palimpsest-cli/src/agent/sandbox/create-sandbox.ts'
import type { Sandbox, SandboxPolicy } from '../../packages/palimpsest-cli/src/agent/sandbox/sandbox.ts'
import { createShells, type Shells } from '../../packages/palimpsest-cli/src/agent/shell/shells.ts'
import type { AskUser } from '../../packages/palimpsest-cli/src/agent/tools/ask-user-tool.ts'
import { createTools } from '../../packages/palimpsest-cli/src/agent/tools/create-tools.ts'
import type { TeamTasks } from '../../packages/palimpsest-cli/src/agent/tools/team-task-tools.ts'

// A folder on the real disk with the agent's tools and permit around it: `root/work` is the working folder, everything beside it is
// outside.

export interface Workbench {
  readonly root: string
  readonly work: string
  readonly outside: string
  readonly home: string
  readonly sessionFolder: string
  readonly access: Access
  readonly sandbox: Sandbox
  /** Of commands that are allowed. */
  readonly env: ChildEnvironment
  /** Of those that run unasked outside of the sandbox. */
  readonly provenEnv: ChildEnvironment
  readonly shells: Shells
  readonly tools: readonly LoopTool[]
  readonly questions: readonly PermissionQuestion[]
  /** Asks the permit, then runs the tool: as the loop does. */
  readonly call: (name: string, input: JsonObject, options?: CallOptions) => Promise<ToolOutput>
  readonly permit: (name: string, input: JsonObject) => Promise<Verdict>
  /** The same for a call of this id, whose grant is then there to be taken. */
  readonly permitAs: (toolUseId: string, name: string, input: JsonObject) => Promise<Verdict>
  /** The permit itself. */
  readonly permitCall: Permit
  readonly dispose: () => Promise<void>
}

export interface CallOptions {
  readonly signal?: AbortSignal
  /** Between the permit's word and the tool's deed. */
  readonly meanwhile?: () => void
}

export interface WorkbenchOptions {
  readonly mode?: PermissionMode
  readonly rules?: { readonly [E in RuleEffect]?: readonly string[] }
  readonly isTrusted?: boolean
  readonly answer?: (question: PermissionQuestion) => PermissionAnswer
  readonly askUser?: AskUser
  readonly additional?: readonly string[]
  /** Unless said, there is none: what runs unasked is proven. */
  readonly sandbox?: SandboxPolicy
  /** What is worked in, instead of `root/work`. */
  readonly work?: string
  /** Our own home, below `root`. */
  readonly ownHome?: string
  readonly env?: { readonly [name: string]: string }
  /** The tasks of the team that it is one of. */
  readonly team?: TeamTasks
}

export async function createWorkbench(options: WorkbenchOptions = {}): Promise<Workbench> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'palimpsest-bench-')))
  const [work, outside, home, sessionFolder] = ['work', 'outside', 'home', 'session'].map((name) =>
    join(root, name),
  ) as [string, string, string, string]
  for (const folder of [work, outside, home, sessionFolder]) mkdirSync(folder)
  const rules = (['allow', 'ask', 'deny'] as const).flatMap((effect) =>
    (options.rules?.[effect] ?? []).map((text) => {
      const parsed = parseRule(text, effect)
      if (!parsed.ok) throw new Error(parsed.message)
      return parsed.rule
    }),
  )
  const access = await createAccess({
    cwd: options.work ?? work,
    home,
    additionalFolders: (options.additional ?? []).map((name) => join(root, name)),
    readableFolders: [sessionFolder],
    ...(options.ownHome === undefined ? {} : { ownHome: join(root, options.ownHome) }),
    rules,
  })
  const questions: PermissionQuestion[] = []
  const { answer, askUser } = options
  const env = { PATH: process.env['PATH'], HOME: home, ...options.env }
  const machine = { platform: process.platform, architecture: process.arch }
  const quarantine = join(sessionFolder, 'quarantine')
  const sandbox = createSandbox({ policy: options.sandbox ?? 'off', access, env, machine, quarantine })
  const commandEnv = commandEnvironment(env, work)
  const permit = createPermit({
    access,
    mode: options.mode ?? 'default',
    isTrusted: options.isTrusted ?? false,
    sandbox,
    env: commandEnv,
    protectedFolders: [home],
    ...(answer === undefined
      ? {}
      : {
          ask: async (question: PermissionQuestion) => {
            questions.push(question)
            return answer(question)
          },
        }),
  })
  const shells = createShells()
  const tools = createTools({
    access,
    sessionFolder,
    shells,
    sandbox,
    env,
    now: () => 1_700_000_000_000,
    team: options.team,
    ...(askUser === undefined ? {} : { askUser }),
  })
  let calls = 0
  // Few tools ask what the model saw, so it is made when one does.
  let seen = (): View => emptyView()
  const find = (name: string): LoopTool => {
    const tool = tools.find((candidate) => candidate.name === name)
    if (tool === undefined) throw new Error(`no tool ${name}`)
    return tool
  }
  return {
    ...{ root, work, outside, home, sessionFolder, access, sandbox, shells, tools, questions },
    env: commandEnv,
    provenEnv: withVariables(readingEnvironment(env, access.folders), gitEnvironment('outside')),
    call: async (name, input, { signal = new AbortController().signal, meanwhile } = {}) => {
      const before = seen
      const context: ToolContext = {
        toolUseId: `toolu_${++calls}`,
        signal,
        get view() {
          return before()
        },
      }
      const verdict = await permit(find(name), input, context)
      meanwhile?.()
      if (!verdict.allow) return { content: verdict.reason, isError: true }
      const { files, ...output } = await find(name).run(verdict.input ?? input, context)
      const earlier = seen
      seen = once(() => roundOf(context.toolUseId, { name, input, output, files }).reduce(step, earlier()))
      return output
    },
    permit: (name, input) =>
      permit(find(name), input, { toolUseId: `toolu_${++calls}`, signal: new AbortController().signal }),
    permitAs: (toolUseId, name, input) =>
      permit(find(name), input, { toolUseId, signal: new AbortController().signal }),
    permitCall: permit,
    dispose: async () => {
      await shells.killAll()
      await sandbox.writing?.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** A call and its result, as the loop leaves them in the conversation: what the model saw is known by them. */
function roundOf(
  id: string,
  round: {
    readonly name: string
    readonly input: JsonObject
    readonly output: ToolOutput
    readonly files: ToolOutput['files']
  },
): readonly Entry[] {
  const { name, input, output, files } = round
  const { content, isError = false } = output
  const call: WireMessage = { role: 'assistant', content: [{ type: 'tool_use', id, name, input }] }
  const result: WireMessage = {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: id, content, is_error: isError }],
  }
  const place = { kind: 'message', parent: null, at: 0 } as const
  return [
    { ...place, id: `${id}-call`, origin: 'model', message: call, json: JSON.stringify(call) },
    {
      ...place,
      id: `${id}-result`,
      origin: 'tool',
      message: result,
      json: JSON.stringify(result),
      ...(files && { files }),
    },
  ]
}

/** The text of a result. */
export function textOf({ content }: ToolOutput): string {
  return typeof content === 'string' ? content : JSON.stringify(content)
}
