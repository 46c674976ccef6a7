import { expect, test } from 'vitest'
import { looseningIn, TLS } from '../../src/domain/tls.ts'

test.each([
  [{ NODE_TLS_REJECT_UNAUTHORIZED: '0' }, [], ['NODE_TLS_REJECT_UNAUTHORIZED=0']],
  [{ NODE_TLS_REJECT_UNAUTHORIZED: 'false' }, [], ['NODE_TLS_REJECT_UNAUTHORIZED=false']],
  [{ NODE_OPTIONS: '--tls-min-v1.0 --max-old-space-size=300' }, [], ['--tls-min-v1.0']],
  [{ NODE_OPTIONS: '"--tls_cipher_list=DEFAULT@SECLEVEL=0"' }, [], ['--tls-cipher-list']],
  [
    { NODE_OPTIONS: '--tls-min-v1.1' },
    ['--tls-min-v1.1', '--insecure-http-parser'],
    ['--tls-min-v1.1', '--insecure-http-parser'],
  ],
  [{}, ['--tls-keylog=/tmp/keys', '--tls-max-v1.1'], ['--tls-keylog', '--tls-max-v1.1']],
  [{ NODE_OPTIONS: '"--insecure-http\\-parser"' }, [], ['--insecure-http-parser']],
  [{}, ['--openssl-legacy-provider'], ['--openssl-legacy-provider']],
  [{}, ['--experimental-config-file=node.config.json'], ['--experimental-config-file']],
  [{ NODE_DEBUG: 'http', SSLKEYLOGFILE: '/tmp/keys' }, [], ['SSLKEYLOGFILE', 'NODE_DEBUG']],
  [{ NODE_OPTIONS: '--use-openssl-ca', SSL_CERT_FILE: '/ca.pem' }, [], ['--use-openssl-ca']],
  [{ NODE_USE_SYSTEM_CA: '1' }, ['--use_system_ca'], ['NODE_USE_SYSTEM_CA=1', '--use-system-ca']],
  [{ NODE_DEBUG_NATIVE: 'TLS' }, [], ['NODE_DEBUG_NATIVE']],
])('%o and %o weaken TLS', (env, execArgv, told) => {
  expect(looseningIn(env, execArgv)).toEqual(told)
})

test.each([
  [{}, []],
  [{ NODE_TLS_REJECT_UNAUTHORIZED: '1', NODE_EXTRA_CA_CERTS: '/ca.pem', NODE_DEBUG: '' }, []],
  [{ NODE_OPTIONS: '--tls-min-v1.2 --tls-max-v1.2', NODE_USE_SYSTEM_CA: '0' }, ['--use-bundled-ca']],
])('%o and %o do not', (env, execArgv) => {
  expect(looseningIn(env, execArgv)).toEqual([])
})

test('every cipher agrees on new keys and authenticates what it encrypts', () => {
  for (const cipher of TLS.ciphers.split(':').slice(0, -1))
    expect(cipher).toMatch(/^(TLS_|ECDHE-(ECDSA|RSA)-).*(GCM|CHACHA20)/)
})
