// palimpsest/loop: what a tool is, who permits its calls, what a turn tells.

export type * from './events.ts'
export type * from './tool.ts'
