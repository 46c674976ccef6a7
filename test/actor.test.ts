import { hostname, userInfo } from 'node:os'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { actorOf, takingFrom, terminalIn } from '../src/actor.ts'
import { actorText, identitiesOf, identityOf, type OsActor } from '../src/domain/actor.ts'

const own = { name: userInfo().username, uid: process.getuid?.() ?? null }

function actorWith(files: Record<string, string>, env: NodeJS.ProcessEnv = {}): OsActor {
  return actorOf(null, { env, read: (path) => files[path] ?? null })
}

const PASSWD = 'root:x:0:0::/root:/bin/sh\nalice:x:4001:4001::/home/alice:/bin/sh\n'

describe('who acts', () => {
  test('is the user of the process where nothing else is known', () => {
    expect(actorWith({})).toEqual({ ...own, host: hostname(), terminal: null, login: null, sudo: null, as: null })
  })

  test('is also who logged in, by name where the machine knows it', () => {
    const login = (uid: string) => actorWith({ '/proc/self/loginuid': uid, '/etc/passwd': PASSWD }).login
    expect(login('4001')).toEqual({ name: 'alice', uid: 4001 })
    expect(login('4002')).toEqual({ name: 'uid-4002', uid: 4002 })
    expect(login(String(own.uid))).toEqual(own)
  })

  test.each(['4294967295', '', 'root', '-1'])('is not told by a login uid of "%s"', (text) => {
    expect(actorWith({ '/proc/self/loginuid': text }).login).toBeNull()
  })

  test('is also whom sudo names, and only in the form of a name', () => {
    const sudo = (env: NodeJS.ProcessEnv) => actorWith({}, env).sudo
    expect(sudo({ SUDO_USER: 'alice', SUDO_UID: '4001' })).toEqual({ name: 'alice', uid: 4001 })
    expect(sudo({ SUDO_USER: 'EXAMPLE\\ann.lee$' })).toEqual({ name: 'EXAMPLE\\ann.lee$', uid: null })
    for (const name of ['', 'a b', 'a\nb', '\u001b[31m', 'x'.repeat(65), '4111111111111111'])
      expect(sudo({ SUDO_USER: name })).toBeNull()
    expect(sudo({ SUDO_USER: 'alice', SUDO_UID: '1; 2' })).toEqual({ name: 'alice', uid: null })
  })
})

describe('who takes a file of another user', () => {
  const sources = { read: (path: string) => (path === '/etc/passwd' ? PASSWD : null) }
  const inbox: OsActor = { ...actorWith({}), name: 'tranche', uid: 997 }

  test('hands it in together with its owner, and is summed as itself', () => {
    const both = takingFrom(inbox, 4001, sources)
    expect(identitiesOf(both)).toEqual(['os:tranche', 'os:alice'])
    expect(identityOf(both)).toBe('os:tranche')
    expect(actorText(both)).toBe(`tranche@${hostname()}, file of alice`)
    expect(identitiesOf(takingFrom(inbox, 4002, sources))).toContain('os:uid-4002')
  })

  test('hands its own in alone', () => {
    expect(takingFrom(inbox, 997, sources)).toEqual(inbox)
  })
})

describe('the terminal', () => {
  const stat = (device: number, name = 'node') => `7576 (${name}) R 7568 7568 32671 ${device} -1 4194304 118`

  test.each([
    [0, null],
    [136 << 8, 'pts/0'],
    [(136 << 8) | 3, 'pts/3'],
    [(137 << 8) | 1, 'pts/257'],
    [(136 << 8) | 0x100000 | 4, 'pts/260'],
    [(4 << 8) | 1, 'tty1'],
    [(4 << 8) | 64, 'ttyS0'],
    [(5 << 8) | 1, 'tty-5:1'],
  ])('of device %i is %s', (device, terminal) => {
    expect(terminalIn(stat(device))).toBe(terminal)
  })

  test('is found whatever the program is called', () => {
    fc.assert(fc.property(fc.string({ maxLength: 15 }), (name) => terminalIn(stat((136 << 8) | 7, name)) === 'pts/7'))
  })

  test('is none where the system does not say', () => {
    for (const text of [null, '', 'nonsense']) expect(terminalIn(text)).toBeNull()
  })
})

describe('in words', () => {
  const alice = { name: 'alice', uid: 4001 }
  const bob = { name: 'bob', uid: 4002 }
  const root = { name: 'root', uid: 0, host: 'host', terminal: 'pts/3', login: null, sudo: null, as: null }

  test.each<[Partial<OsActor>, string]>([
    [{}, 'root@host pts/3'],
    [{ terminal: null }, 'root@host'],
    [{ as: 'Carol' }, 'root@host pts/3, says "Carol"'],
    [{ sudo: alice, as: 'Carol' }, 'alice@host pts/3 (sudo, as root), says "Carol"'],
    [{ sudo: alice, login: alice }, 'alice@host pts/3 (sudo, as root)'],
    [{ login: alice }, 'alice@host pts/3 (as root)'],
    [{ login: alice, sudo: bob }, 'alice@host pts/3 (as root; SUDO_USER is bob)'],
    [{ login: { name: 'root', uid: 0 } }, 'root@host pts/3'],
    [{ ...alice, login: alice }, 'alice@host pts/3'],
  ])('%o is %s', (over, text) => {
    expect(actorText({ ...root, ...over })).toBe(text)
  })

  test('a key and a person are called by name and id, with the address they came from', () => {
    expect(actorText({ kind: 'key', id: 'k1', name: 'billing', address: '10.0.0.7' })).toBe(
      'key billing (k1) from 10.0.0.7',
    )
    expect(actorText({ kind: 'person', id: 'p7', name: 'Mio Ito', address: null })).toBe('person Mio Ito (p7)')
  })
})

describe('as an identity', () => {
  const own = { name: 'tranche', uid: 990, host: 'desk', terminal: null, login: null, sudo: null, as: 'Carol' }
  const alice = { name: 'alice', uid: 4001 }

  test('a user is the same on every host, whatever name was claimed', () => {
    expect(identityOf(own)).toBe(identityOf({ ...own, host: 'server', terminal: 'pts/1', as: 'Dave' }))
  })

  test('who logged in counts, and the user that they became as well', () => {
    expect(identityOf({ ...own, login: alice })).toBe('os:alice')
    expect(identitiesOf({ ...own, login: alice })).toEqual(['os:tranche', 'os:alice'])
  })

  test('the caller of sudo is believed of root alone', () => {
    expect(identityOf({ ...own, sudo: alice })).toBe('os:tranche')
    expect(identitiesOf({ ...own, sudo: alice })).toEqual(['os:tranche'])
    expect(identityOf({ ...own, name: 'root', uid: 0, sudo: alice })).toBe('os:alice')
  })

  test('a key is no person, and neither is a user of that name', () => {
    const [key, person] = (['key', 'person'] as const).map((kind) => ({
      kind,
      id: 'alice',
      name: 'alice',
      address: null,
    }))
    expect(new Set([key!, person!, { ...own, name: 'alice' }].map(identityOf)).size).toBe(3)
  })
})
