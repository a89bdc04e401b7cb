// Variables in which users give us keys. A test compares them with those that the code reads.

export const KEY_VARIABLES: readonly string[] = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'ANTHROPIC_CUSTOM_HEADERS',
  'ANTHROPIC_IDENTITY_TOKEN',
  'OPENAI_API_KEY',
  'GEMINI_API_KEY',
  'GOOGLE_API_KEY',
  'GOOGLE_GENERATIVE_AI_API_KEY',
  'MISTRAL_API_KEY',
  'GROQ_API_KEY',
  'XAI_API_KEY',
  'DEEPSEEK_API_KEY',
  'OPENROUTER_API_KEY',
  'VLLM_API_KEY',
  'LLAMA_API_KEY',
]

/** Addresses; for some services they contain the token. */
export const URL_VARIABLES: readonly string[] = [
  'ANTHROPIC_BASE_URL',
  'OPENAI_BASE_URL',
  'OLLAMA_HOST',
  'VLLM_BASE_URL',
  'LLAMACPP_BASE_URL',
  'PALIMPSEST_BASE_URL',
  'PALIMPSEST_TEAM_BASE_URL',
  'PALIMPSEST_FLAGS_URL',
]
