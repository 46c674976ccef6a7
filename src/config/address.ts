// The addresses of gateway and Redis: one spelling for each, and nothing secret in clear to another host.

import { parseRedisTarget, type RedisTarget } from '../domain/redis-target.ts'
import { Secret } from '../domain/secret.ts'
import { defaultOf } from '../domain/settings.ts'
import { isLoopback } from '../files/networks.ts'
import type { Settings } from './setting-readers.ts'

/** The gateway's base address in one spelling, so that one account is not taken for two. */
export function parseAddress(text: string, complain: (problem: string) => void): string | undefined {
  const problem = addressProblem(text.trim())
  if (problem !== null) {
    complain(problem)
    return undefined
  }
  const url = new URL(text.trim())
  return url.origin + url.pathname.replace(/\/+$/, '')
}

function addressProblem(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:\/\//i.test(text)) return 'must be an absolute address such as https://gateway.example'
  if (url.username !== '' || url.password !== '') return 'must not hold a username or password'
  if (/[?#]/.test(text)) return 'must not have a query (?) or a fragment (#)'
  if (url.pathname.includes('/api/transaction/api')) return 'must be the base address, without /api/transaction/api'
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return 'must begin with https://: over plain http the password would travel in clear'
  }
  return null
}

export function redisUrlFrom(settings: Settings): Secret | null {
  const url = settings.secret('TRANCHE_REDIS_URL')?.trim()
  if (url === undefined) return null
  const target = parseRedisTarget(url)
  if (typeof target === 'string') settings.note('TRANCHE_REDIS_URL', target)
  const plaintext = settings.choice('TRANCHE_REDIS_PLAINTEXT', ['yes', 'no'], defaultOf('TRANCHE_REDIS_PLAINTEXT'))
  if (plaintext === 'no' && typeof target !== 'string' && target.kind !== 'socket' && leadsOutInClear(target)) {
    settings.note(
      'TRANCHE_REDIS_URL',
      'leads to another host in clear, with instructions and its password: use rediss://, or set TRANCHE_REDIS_PLAINTEXT=yes where the network between the two is private',
    )
  }
  return new Secret(url)
}

function leadsOutInClear({ tls, at }: Exclude<RedisTarget, { kind: 'socket' }>): boolean {
  return !tls && [at].flat().some(({ host }) => !isLoopback(host))
}

/** BullMQ's own default prefix: what plain BullMQ producers add to the intake queue is then found. */
export function redisPrefixFrom(settings: Settings): string {
  const prefix = settings.text('TRANCHE_REDIS_PREFIX') ?? defaultOf('TRANCHE_REDIS_PREFIX')
  if (!/^[\x21-\x7e]{1,100}$/.test(prefix)) {
    settings.note('TRANCHE_REDIS_PREFIX', 'must be 1 to 100 ASCII characters without blanks')
  }
  return prefix
}
