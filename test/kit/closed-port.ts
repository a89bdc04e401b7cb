/**
 * Nothing listens on it, while a test looks and after it. A port that a server has just left is no such port: the next server, of any other
 * test, may be given it. One below 1024 is given to nobody; this one has no service, and fetch does not refuse it.
 */
export const CLOSED_PORT = 2

export const CLOSED_URL = `http://127.0.0.1:${CLOSED_PORT}`
