import type { createOpenAICompatible } from '@ai-sdk/openai-compatible'

// The SDK's own types, under the names that we use.

export type ChatModel = ReturnType<ReturnType<typeof createOpenAICompatible>['chatModel']>
export type ChatCall = Parameters<ChatModel['doStream']>[0]
export type ChatPrompt = ChatCall['prompt']
export type ChatMessage = ChatPrompt[number]
export type UserPart = Extract<ChatMessage, { role: 'user' }>['content'][number]
export type AssistantPart = Extract<ChatMessage, { role: 'assistant' }>['content'][number]
export type ToolPart = Extract<ChatMessage, { role: 'tool' }>['content'][number]
type ChatStream = Awaited<ReturnType<ChatModel['doStream']>>['stream']
export type ChatPart = ChatStream extends ReadableStream<infer Part> ? Part : never
