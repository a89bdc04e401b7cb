import { toBlocks } from '../../wire/message.ts'
import type { MessagesRequest } from '../../wire/request.ts'
import type { ChatCall } from './chat-model.ts'
import { toPrompt } from './to-prompt.ts'

// A request of the Messages API as a call of chat completions. Omitted because no such server supports it: breakpoints, thinking and its
// budget, effort, edits on the server, tools that run there. Omitted on purpose: `max_tokens`. Servers refuse a limit that exceeds the
// window together with the prompt, newer models refuse the field itself, and without it each model stops at the end of its window.

export function toChatCall(request: MessagesRequest): ChatCall {
  const { temperature, top_p: topP, stop_sequences: stopSequences } = request
  const tools = toolsOf(request)
  return {
    prompt: [...systemOf(request), ...toPrompt(request.messages)],
    ...(tools.length === 0 ? {} : { tools, ...toolChoiceOf(request) }),
    ...(temperature === undefined || temperature === null ? {} : { temperature }),
    ...(topP === undefined || topP === null ? {} : { topP }),
    ...(stopSequences ? { stopSequences: [...stopSequences] } : {}),
  }
}

/** Chat templates accept one system message, at the beginning. */
function systemOf({ system }: MessagesRequest): ChatCall['prompt'] {
  const texts = toBlocks(system).flatMap((block) =>
    'text' in block && typeof block.text === 'string' ? [block.text] : [],
  )
  return texts.length === 0 ? [] : [{ role: 'system', content: texts.join('\n\n') }]
}

type ChatTools = NonNullable<ChatCall['tools']>

function toolsOf({ tools }: MessagesRequest): ChatTools {
  return (tools ?? []).flatMap(({ name, description, input_schema: schema }) => {
    if (name === undefined || schema === undefined) return []
    const described = description === undefined ? {} : { description }
    return [{ type: 'function' as const, name, ...described, inputSchema: { ...schema } }]
  })
}

function toolChoiceOf({ tool_choice: choice }: MessagesRequest): Pick<ChatCall, 'toolChoice'> {
  switch (choice?.type) {
    case undefined:
      return {}
    case 'auto':
    case 'none':
      return { toolChoice: { type: choice.type } }
    case 'any':
      return { toolChoice: { type: 'required' } }
    case 'tool':
      return { toolChoice: { type: 'tool', toolName: choice.name } }
    default:
      return choice satisfies never
  }
}
