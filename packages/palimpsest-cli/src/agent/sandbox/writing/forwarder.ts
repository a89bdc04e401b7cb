// Programs in the sandbox call a proxy by an address, but the way out is a socket. The forwarder joins the two. It runs inside, in the same
// Node that runs us, and decides nothing. Nobody else is on the network inside, so the port is always free.

export const PROXY_PORT = 3128
/** Path of the socket inside the sandbox. */
export const GATE = '/run/palimpsest-gate'

/** Closes its output to signal that it listens. */
export const FORWARDER = `const net=require('net');net.createServer(a=>{const b=net.connect(process.argv[1]);const e=()=>{a.destroy();b.destroy()};a.on('error',e);b.on('error',e);a.on('close',e);b.on('close',e);a.pipe(b);b.pipe(a)}).listen(${PROXY_PORT},'127.0.0.1',()=>{const f=require('fs');f.closeSync(1);f.openSync('/dev/null','w')})`

const ADDRESS = `http://127.0.0.1:${PROXY_PORT}`
const OWN = 'localhost,127.0.0.1,::1'

export const PROXY_VARIABLES = {
  ...{ http_proxy: ADDRESS, https_proxy: ADDRESS, HTTP_PROXY: ADDRESS, HTTPS_PROXY: ADDRESS },
  ...{ no_proxy: OWN, NO_PROXY: OWN, NODE_USE_ENV_PROXY: '1' },
}
