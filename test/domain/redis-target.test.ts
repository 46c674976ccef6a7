import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { keepsTogether, parseRedisTarget, redisName, secretsOfRedis } from '../../src/domain/redis-target.ts'

const nobody = { tls: false, username: null, password: null }

describe('an address of Redis', () => {
  test.each([
    ['/run/redis.sock', { kind: 'socket', path: '/run/redis.sock' }],
    ['unix:///run/redis.sock', { kind: 'socket', path: '/run/redis.sock' }],
    ['redis://h', { kind: 'server', at: { host: 'h', port: 6379 }, database: 0, ...nobody }],
    ['redis://[::1]:7', { kind: 'server', at: { host: '::1', port: 7 }, database: 0, ...nobody }],
    [
      'rediss://u:p%40%3A@h:1/2',
      { kind: 'server', at: { host: 'h', port: 1 }, database: 2, tls: true, username: 'u', password: 'p@:' },
    ],
    [
      'redis+cluster://:p@a,b:7/0',
      {
        kind: 'cluster',
        at: [
          { host: 'a', port: 6379 },
          { host: 'b', port: 7 },
        ],
        ...nobody,
        password: 'p',
      },
    ],
    [
      'rediss+sentinel://u:p@main@a,b:7/4?sentinel_username=s&sentinel_password=q%26',
      {
        ...{ kind: 'sentinel', name: 'main', database: 4, tls: true, username: 'u', password: 'p' },
        sentinel: { username: 's', password: 'q&' },
        at: [
          { host: 'a', port: 26_379 },
          { host: 'b', port: 7 },
        ],
      },
    ],
  ])('%s is understood', (text, target) => {
    expect(parseRedisTarget(text)).toEqual(target)
  })

  test.each([
    ['http://h', /^must begin with redis:\/\//],
    ['redis+what://h', /^must begin with redis:\/\//],
    ['redis://', /^has a host/],
    ['redis://h:99999', /^has a host/],
    ['redis://h/main', /^must name its database by a number/],
    ['redis://a,b', /^names several servers/],
    ['redis://u:%zz@h', /% that is not written as %25$/],
    ['redis+cluster://a,,b', /^has a host/],
    ['redis+cluster://a/1', /^names a database, but a cluster/],
    ['redis+cluster://a?tls=no', /^has a setting behind the \? that is none$/],
    ['redis+sentinel://a,b', /^must say what the sentinels call the server/],
    ['redis+sentinel://main@a?password=x', /that is none: sentinel_username, sentinel_password$/],
  ])('%s is refused', (text, problem) => {
    expect(parseRedisTarget(text)).toMatch(problem)
  })

  test('is never repeated where it is refused: it may hold a password', () => {
    for (const text of [
      'redis://u:s3cr3t',
      'redis://:s3cr3t@h:x',
      's3cr3t://h',
      'redis+cluster://u:s3cr3t@a/1',
      'redis://u:s3cr3t%@h',
    ])
      expect(parseRedisTarget(text)).not.toContain('s3cr3t')
  })

  test('gives back whatever its password is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (password) => {
        for (const kind of ['redis', 'redis+cluster', 'redis+sentinel']) {
          const text = `${kind}://u:${encodeURIComponent(password)}@${kind === 'redis+sentinel' ? 'main@' : ''}h`
          expect(parseRedisTarget(text)).toMatchObject({ username: 'u', password })
          expect(secretsOfRedis(text)).toContain(password)
        }
      }),
    )
  })

  test('is a target or a sentence, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.constantFrom('', 'redis://', 'redis+cluster://', 'rediss+sentinel://'),
        (text, how) => {
          expect(['string', 'object']).toContain(typeof parseRedisTarget(how + text))
        },
      ),
    )
  })

  test('has a name for people, without secrets, whatever the order of its hosts', () => {
    const nameOf = (text: string) => redisName(parseRedisTarget(text) as never)
    expect(nameOf('redis://u:p@h/2')).toBe('h:6379/2')
    expect(nameOf('redis+cluster://u:p@b,a')).toBe('the cluster a:6379, b:6379')
    expect(nameOf('redis+sentinel://u:p@main@b,a/2?sentinel_password=q')).toBe(
      'main/2 of the sentinels a:26379, b:26379',
    )
  })
})

test.each([
  ['{tranche}', true],
  ['shop-{tranche}-x', true],
  ['bull', false],
  ['{}', false],
  ['{}{tranche}', false],
  ['}tranche{', false],
])('the keys under %s are kept together: %s', (prefix, together) => {
  expect(keepsTogether(prefix)).toBe(together)
})
