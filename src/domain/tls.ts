// How TLS is spoken, wherever this program speaks it: said here and nowhere left to what the surroundings say.

/** Explicit options rule over NODE_TLS_REJECT_UNAUTHORIZED and the flags of Node. Every cipher has forward secrecy and authenticates. */
export const TLS = {
  rejectUnauthorized: true,
  minVersion: 'TLSv1.2',
  ciphers: [
    ...['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256'],
    ...['ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
    ...['ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
    ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
    '@SECLEVEL=2',
  ].join(':'),
} as const

/** Whose word is taken for who a gateway is, and who we are to it. PEM. */
export interface Trust {
  /** Only these authorities; null: those of Node. */
  readonly ca: string | null
  readonly client: { readonly cert: string; readonly key: string } | null
}

/** What a connection was found to be. */
export interface TlsSeen {
  readonly protocol: string
  readonly cipher: string
  /** Of the gateway's certificate. */
  readonly issuer: string
  readonly expiresAtMs: number
}

/**
 * The last two write down what decrypts the password, or the traffic itself; a file of settings may hold any of the others.
 * The stores of OpenSSL and of the system are files that SSL_CERT_FILE names: anyone's authority could vouch for the gateway.
 */
const LOOSENING =
  /^--(?:tls-min-v1\.[01]|tls-max-v1\.[01]|tls-cipher-list|openssl-legacy-provider|use-openssl-ca|use-system-ca|insecure-http-parser|security-revert|experimental-config-file|tls-keylog|trace-tls)(?==|$)/

/** By these, Node and what it is built of write keys, headers and bodies to a file or to stderr. */
const EXPOSING = ['SSLKEYLOGFILE', 'NODE_DEBUG', 'NODE_DEBUG_NATIVE']

/** What of the surroundings weakens TLS or HTTP for the whole process, or shows what goes over it, by name; none is what must be. */
export function looseningIn(env: Readonly<Record<string, string | undefined>>, execArgv: readonly string[]): string[] {
  const {
    NODE_TLS_REJECT_UNAUTHORIZED: verification = '1',
    NODE_USE_SYSTEM_CA: store = '',
    NODE_OPTIONS: options = '',
  } = env
  const flags = [...options.replaceAll('\\', '').split(/[\s"]+/), ...execArgv].map((flag) => flag.replaceAll('_', '-'))
  const loosening = flags.flatMap((flag) => LOOSENING.exec(flag)?.[0] ?? [])
  return [
    ...(verification.trim() === '1' ? [] : [`NODE_TLS_REJECT_UNAUTHORIZED=${verification}`]),
    ...(['', '0'].includes(store.trim()) ? [] : [`NODE_USE_SYSTEM_CA=${store}`]),
    ...EXPOSING.filter((name) => (env[name] ?? '').trim() !== ''),
    ...new Set(loosening),
  ]
}
