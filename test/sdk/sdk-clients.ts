import Anthropic from '@anthropic-ai/sdk'
import OlderAnthropic from 'anthropic-sdk-0x'
import { serve } from '../../packages/palimpsest/src/node/serving/serve.ts'
import {
  createSimulator,
  type SimulatorOptions,
} from '../../packages/palimpsest/src/lab/simulator/create-simulator.ts'
import type { Simulator } from '../../packages/palimpsest/src/lab/simulator/create-simulator.ts'

// The real SDKs of both generations against the simulator, through their `fetch` option and through a socket.

export interface Connected {
  readonly client: Anthropic
  readonly simulator: Simulator
  readonly close: () => Promise<void>
}

const GENERATIONS = {
  '1.8.0': Anthropic,
  // The older one differs in headers and paths, not in the calls made here.
  '0.137.0': OlderAnthropic as unknown as typeof Anthropic,
}

export interface Way {
  readonly name: string
  readonly connect: (options?: SimulatorOptions) => Promise<Connected>
}

export const WAYS: readonly Way[] = Object.entries(GENERATIONS).flatMap(([version, Client]) => [
  {
    name: `SDK ${version} through its fetch option`,
    connect: async (options) => {
      const simulator = createSimulator({ clock: 'virtual', ...options })
      const fetch = (input: string | URL | Request, init?: RequestInit): Promise<Response> =>
        simulator.fetch(new Request(input, init))
      const client = new Client({ apiKey: 'test', baseURL: 'http://simulator', fetch, maxRetries: 0 })
      return { client, simulator, close: () => Promise.resolve() }
    },
  },
  {
    name: `SDK ${version} through a loopback server`,
    connect: async (options) => {
      const simulator = createSimulator({ clock: 'virtual', ...options })
      const served = await serve(simulator.fetch)
      const client = new Client({ apiKey: 'test', baseURL: served.url, maxRetries: 0 })
      return { client, simulator, close: served.close }
    },
  },
])

/** Runs with a connection and closes it whatever happens. */
export async function connected(
  way: Way,
  options: SimulatorOptions,
  run: (connection: Connected) => Promise<void>,
): Promise<void> {
  const connection = await way.connect(options)
  try {
    await run(connection)
  } finally {
    await connection.close()
  }
}
